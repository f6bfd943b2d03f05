import type { RbacRule } from "./rbac-text.ts";

/** What a thief of the account's token gets by a rule: stands below its reason in the generated file. Throws for a rule that has none. */
export function stolenToken(rule: Omit<RbacRule, "reason">): string {
  const gains = rule.resources.flatMap((resource) => gainsOf(resource, rule));
  return `Stolen token: ${[...new Set(gains)].join("; ")}.`;
}

function gainsOf(resource: string, { verbs, resourceNames }: Omit<RbacRule, "reason">): readonly string[] {
  const [name = "", subresource] = resource.split("/");
  if (subresource === "finalizers") return ["nothing on its own"];
  if (subresource === "status") return ["forges what is reported of the objects"];
  const gains = table[name];
  const isNamed = resourceNames !== undefined;
  const found = levels
    .filter(({ has }) => verbs.some((verb) => has.includes(verb)))
    .map(({ level }) => (isNamed ? gains?.named?.[level] : undefined) ?? gains?.[level]);
  const missing = found.length === 0 || found.some((each) => each === undefined);
  if (missing)
    throw new Error(`no line says what a stolen token gives by ${verbs.join(", ")} on ${resource}`);
  return found.filter((each) => each !== undefined);
}

type Level = "read" | "write" | "special";

const levels: readonly { readonly level: Level; readonly has: readonly string[] }[] = [
  { level: "read", has: ["get", "list", "watch"] },
  { level: "write", has: ["create", "update", "patch", "delete"] },
  { level: "special", has: ["impersonate", "operate", "use"] },
];

interface Gains extends Partial<Record<Level, string>> {
  /** By a rule with resourceNames. */
  readonly named?: Partial<Record<Level, string>>;
}

const ofEngines: Gains = {
  read: "sees search clusters and what runs them",
  write: "changes, breaks or deletes workloads of every namespace, and so runs any image with their accounts",
  special: "may forge the owner labels by which clusters trust Secrets and volumes",
};
const ofMonitoring: Gains = {
  read: "sees what is monitored",
  write: "changes what is monitored and alerted",
};
const ofShares: Gains = {
  read: "sees which Secrets are shared",
  write: "shares every object that some ClusterBundle shares with those who may use Shares",
  special: "mounts every Share into a pod of its own, if it may create one",
};

/** By resource. Conservative: the worst that the verbs allow, not what we do with them. */
const table: Readonly<Record<string, Gains>> = {
  "*": { read: "reads every object, Secrets included, and runs commands in pods through subresources" },
  serviceaccounts: { special: "acts as every service account, and so is cluster-admin" },
  installplans: {
    read: "sees every plan",
    write: "holds up, hands over and deletes plans; their content cannot be changed",
    special: "may forge the status of plans, and with it skip approvals",
  },
  resourcemanifests: { read: "sees every manifest of plans", write: "changes owners of manifests" },
  subjectaccessreviews: { write: "learns who may do what" },
  bundles: { read: "sees which Secrets bundles name" },
  clusterbundles: {
    read: "sees which Secrets bundles name",
    special: "may forge the status of bundles, and grant their use to others",
  },
  customresourcedefinitions: { read: "sees which kinds are served" },
  validatingadmissionpolicies: { read: "sees which policies guard the cluster" },
  validatingadmissionpolicybindings: { read: "sees which policies guard the cluster" },
  csinodes: { read: "sees the names of nodes and their drivers" },
  consoleyamlsamples: { read: "sees samples of the console", write: "changes samples that users copy" },
  configmaps: {
    read: "reads every ConfigMap",
    write: "changes every ConfigMap",
    named: { read: "reads this ConfigMap", write: "publishes another CA, by which webhooks are trusted" },
  },
  secrets: {
    read: "reads every Secret, tokens of all accounts included: it is cluster-admin",
    write: "creates tokens of every service account, and deletes every Secret",
    named: {
      read: "reads the key of the webhook's CA",
      write: "replaces it, and so serves in the webhook's place",
    },
  },
  roles: {
    read: "sees who may do what",
    write: "grants others what this account may do itself, and no more",
  },
  rolebindings: {
    read: "sees who may do what",
    write: "binds Roles that grant no more than this account has",
  },
  clusterroles: {
    named: { read: "sees what the webhook may do" },
    read: "sees who may do what",
    write: "grants others what this account may do itself, and no more",
  },
  clusterrolebindings: { read: "sees who may do what" },
  shares: ofShares,
  sharedsecrets: ofShares,
  sharedconfigmaps: ofShares,
  events: { write: "writes misleading events" },
  mutatingwebhookconfigurations: {
    named: {
      read: "sees which requests are sent to our webhook",
      write: "sends every request of the cluster to an address of its choice, and changes it on the way",
    },
  },
  validatingwebhookconfigurations: {
    named: {
      read: "sees which requests are sent to our webhook",
      write: "sends every request of the cluster to an address of its choice, and rejects it",
    },
  },
  namespaces: {
    read: "sees names and labels of namespaces",
    named: { read: "sees the operator's namespace" },
  },
  leases: { read: "sees which replica leads", write: "takes the lead, and so stops the operator" },
  opensearchclusters: ofEngines,
  elasticsearchclusters: ofEngines,
  statefulsets: ofEngines,
  deployments: ofEngines,
  nodes: { read: "sees machines and their labels" },
  pods: { read: "reads every pod", write: "deletes every pod, or changes the image that it runs" },
  services: { read: "sees every Service", write: "leads traffic of Services elsewhere" },
  persistentvolumeclaims: { read: "sees every claim", write: "deletes volumes of every namespace" },
  networkpolicies: {
    read: "sees who may reach whom",
    write: "opens or closes the network of every namespace",
  },
  poddisruptionbudgets: { read: "sees what may be evicted", write: "blocks or allows evictions" },
  servicemonitors: ofMonitoring,
  prometheusrules: ofMonitoring,
  prometheuses: ofMonitoring,
  alertmanagers: ofMonitoring,
  grafanadashboards: ofMonitoring,
  clusterlicenses: {
    read: "sees licenses without their signatures",
    write: "takes licenses away from clusters",
  },
  enterpriselicenses: { read: "sees licenses without their signatures" },
  licenseassociations: {
    read: "sees which cluster has which license",
    write: "takes licenses away from clusters",
    special: "may bind clusters to the license pool",
  },
};
