import { elasticsearchCluster } from "@quartermaster/api";
import {
  clusterLicense,
  enterpriseLicense,
  licenseAssociation,
  LICENSING_GROUP,
} from "@quartermaster/api/licensing";
import type { DomainPermission } from "@quartermaster/runtime";

const own = [clusterLicense, enterpriseLicense, licenseAssociation].map(({ kind }) => kind.plural);

const needed: readonly DomainPermission[] = [
  {
    reason:
      "Clusters that get licenses: their spec, their size, and what the search domain reports of their engines.",
    apiGroups: [LICENSING_GROUP],
    resources: [elasticsearchCluster.kind.plural, ...own],
    verbs: ["get", "list", "watch"],
  },
  {
    reason: "One ClusterLicense and one LicenseAssociation for each cluster that gets a license of the pool.",
    apiGroups: [LICENSING_GROUP],
    resources: [clusterLicense.kind.plural, licenseAssociation.kind.plural],
    verbs: ["create", "patch", "delete"],
  },
  {
    reason: "Status of licenses and associations; and some clusters require finalizers for owner references.",
    apiGroups: [LICENSING_GROUP],
    resources: [...own.map((plural) => `${plural}/status`), `${elasticsearchCluster.kind.plural}/finalizers`],
    verbs: ["patch", "update"],
  },
  {
    reason: "By this verb config/policy/licensing.yaml recognizes who may bind clusters to the pool.",
    apiGroups: [LICENSING_GROUP],
    resources: [licenseAssociation.kind.plural],
    verbs: ["operate"],
  },
  {
    reason: "The signature beside each copied license: written and deleted, never read.",
    apiGroups: [""],
    resources: ["secrets"],
    verbs: ["create", "delete"],
  },
  {
    reason: "Labels of namespaces, for allowedNamespaces. Only metadata is read.",
    apiGroups: [""],
    resources: ["namespaces"],
    verbs: ["list", "watch"],
  },
];

/** Permissions that licensing needs of the operator's identity: in a file of its own, because the domain is optional. */
export const licensingPermissions: readonly DomainPermission[] = needed.map((permission) => ({
  ...permission,
  isOptional: true,
}));
