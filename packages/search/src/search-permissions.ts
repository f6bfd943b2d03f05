import { elasticsearchCluster, openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import { LICENSING_GROUP } from "@quartermaster/api/licensing";
import type { DomainPermission } from "@quartermaster/runtime";

const kinds = [openSearchCluster.kind, opsterOpenSearchCluster.kind, elasticsearchCluster.kind];
const groups = kinds.map(({ group }) => group);
const plurals = [...new Set(kinds.map(({ plural }) => plural))];

const needed: readonly DomainPermission[] = [
  {
    reason: "Search clusters, and their finalizer.",
    apiGroups: groups,
    resources: plurals,
    verbs: ["get", "list", "watch", "patch"],
  },
  {
    reason: "Status of search clusters.",
    apiGroups: groups,
    resources: plurals.map((plural) => `${plural}/status`),
    verbs: ["patch"],
  },
  {
    reason:
      "By this verb, in the whole cluster, config/policy/search-marks.yaml recognizes who may label Secrets and volumes.",
    apiGroups: [openSearchCluster.kind.group],
    resources: [openSearchCluster.kind.plural],
    verbs: ["operate"],
  },
  {
    reason: "Some clusters require this to set owner references.",
    apiGroups: groups,
    resources: plurals.map((plural) => `${plural}/finalizers`),
    verbs: ["update"],
  },
  {
    reason: "One StatefulSet per pool of nodes.",
    apiGroups: ["apps"],
    resources: ["statefulsets"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
  },
  {
    reason: "OpenSearch Dashboards or Kibana; deleted when the author switches it off.",
    apiGroups: ["apps"],
    resources: ["deployments"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
  },
  {
    reason: "Services and configuration of nodes and of Dashboards; those of Dashboards are deleted with it.",
    apiGroups: [""],
    resources: ["services", "configmaps"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
  },
  {
    reason:
      "Certificates and passwords of clusters, and Secrets that their specs name. Only labeled ones are kept in memory.",
    apiGroups: [""],
    resources: ["secrets"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
  },
  {
    reason: "Volumes: labeled with their content, deleted only where the author requested it.",
    apiGroups: [""],
    resources: ["persistentvolumeclaims"],
    verbs: ["get", "list", "watch", "patch", "delete"],
  },
  {
    reason:
      "Nodes of the engine are pods: read, annotated with the place of their machine, and deleted one at a time to restart them.",
    apiGroups: [""],
    resources: ["pods"],
    verbs: ["get", "list", "watch", "patch", "delete"],
  },
  {
    reason: "Who may reach the nodes, and what monitors them.",
    apiGroups: ["networking.k8s.io"],
    resources: ["networkpolicies"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
  },
  {
    reason: "How many nodes may be evicted at a time; deleted when a pool has no budget of its own any more.",
    apiGroups: ["policy"],
    resources: ["poddisruptionbudgets"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
  },
  {
    reason: "Scrapes, alert rules and, where requested, Prometheus and Alertmanager of monitored clusters.",
    apiGroups: ["monitoring.coreos.com"],
    resources: ["servicemonitors", "prometheusrules", "prometheuses", "alertmanagers"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
  },
  {
    reason: "Dashboards of monitored clusters.",
    apiGroups: ["grafana.integreatly.org"],
    resources: ["grafanadashboards"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
  },
  {
    reason: "Whether kinds of prometheus-operator and grafana-operator are served. Watched by name.",
    apiGroups: ["apiextensions.k8s.io"],
    resources: ["customresourcedefinitions"],
    verbs: ["list", "watch"],
  },
  {
    reason: "Licenses of Elasticsearch clusters: read in the cluster's namespace, and never written.",
    apiGroups: [LICENSING_GROUP],
    resources: ["clusterlicenses", "licenseassociations"],
    verbs: ["get", "list", "watch"],
  },
  {
    reason:
      "Labels of machines that clusters name in general.nodeAttributes: read one by one, where their pods run.",
    apiGroups: [""],
    resources: ["nodes"],
    verbs: ["get"],
  },
  {
    reason: "Whether the namespace of a cluster that is deleted is going as well.",
    apiGroups: [""],
    resources: ["namespaces"],
    verbs: ["get"],
  },
];

/** Permissions that search clusters need of the operator's identity: in a file of their own, because the domain is optional. */
export const searchPermissions: readonly DomainPermission[] = needed.map((permission) => ({
  ...permission,
  isOptional: true,
}));
