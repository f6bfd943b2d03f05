import { z } from "zod";

/** A name of a namespace, as Kubernetes accepts it. */
const namespaceName = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);

const quantities = z.record(z.string(), z.union([z.string(), z.number()]));
const labels = z.record(z.string(), z.string());

/** Defaults of the pods of one workload. */
interface PodDefaults {
  readonly requests: z.output<typeof quantities>;
  readonly limits: z.output<typeof quantities>;
  readonly tolerations?: readonly { readonly operator: string }[];
  readonly priorityClassName?: string;
}

/** Settings of the pods of one workload. */
function podSettings({ requests, limits, tolerations = [], priorityClassName = "" }: PodDefaults) {
  return {
    resources: z
      .strictObject({
        requests: quantities.default(requests).describe("requests of the container"),
        limits: quantities.default(limits).describe("limits of the container"),
      })
      .prefault({}),
    nodeSelector: labels.default({}).describe("labels of the nodes that the pods may run on"),
    tolerations: z
      .array(z.looseObject({}))
      .default([...tolerations])
      .describe("taints that the pods tolerate"),
    priorityClassName: z.string().default(priorityClassName).describe("priority class of the pods"),
    podLabels: labels.default({}).describe("further labels of the pods"),
    podAnnotations: labels.default({}).describe("annotations of the pods"),
    extraEnv: z
      .array(z.looseObject({ name: z.string().min(1) }))
      .default([])
      .describe("further environment variables, e.g. a flag of the operator: QM_LOG_LEVEL"),
  };
}

const ownPods = { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } };

function switchOf(isOn: boolean, description: string) {
  return z.strictObject({ enabled: z.boolean().default(isOn).describe(description) }).prefault({});
}

function imageNamed(repository: string, description: string) {
  return z
    .strictObject({
      repository: z.string().min(1).default(repository).describe(`${description}: name below the registry`),
      digest: z
        .string()
        .regex(/^(sha256:[0-9a-f]{64})?$/)
        .default("")
        .describe(`${description}: digest; it takes precedence over the tag`),
    })
    .prefault({});
}

/** Values of the chart quartermaster-api: what has no pod. */
export const apiValues = z.strictObject({
  global: z.looseObject({}).optional().describe("values that Helm shares between charts; not used"),
  enabled: z
    .boolean()
    .default(true)
    .describe(
      "install the chart quartermaster-api with the release of quartermaster; false if it has a release of its own",
    ),
  operatorNamespace: z
    .union([namespaceName, z.literal("")])
    .default("")
    .describe("namespace of the operator that serves these kinds (default: that of the release)"),
  crds: z
    .strictObject({
      keep: z
        .boolean()
        .default(true)
        .describe(
          "keep the CustomResourceDefinitions, and so every object of them, when the release is removed",
        ),
      exclude: z
        .array(z.string().min(1))
        .default([])
        .describe(
          "CustomResourceDefinitions that another product brings, e.g. shares.projectedresource.storage.openshift.io",
        ),
    })
    .prefault({}),
  policies: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe(
          "admission policies that protect status, authors and volumes; without them tenants can forge these",
        ),
      authorRecord: z
        .enum(["Auto", "Always", "Never"])
        .default("Auto")
        .describe("policies that record authors, which need Kubernetes 1.36; Auto asks the cluster"),
    })
    .prefault({}),
  aggregateToDefaultRoles: z
    .boolean()
    .default(true)
    .describe("extend the roles view, edit and admin of Kubernetes with the namespaced kinds"),
});

/** Values of the chart quartermaster. */
export const chartValues = z.strictObject({
  global: z.looseObject({}).optional().describe("values that Helm shares between charts; not used"),
  domains: z
    .strictObject({
      installPlans: switchOf(true, "InstallPlans"),
      subscription: switchOf(false, "Bundles, ClusterBundles and the webhook that injects them into pods"),
      licensing: switchOf(false, "licenses of Elasticsearch clusters"),
      search: switchOf(false, "OpenSearch and Elasticsearch clusters"),
    })
    .prefault({})
    .describe("parts of the suite that run, and for which permissions exist"),
  rbac: z
    .strictObject({
      profile: z
        .enum(["limited", "broad"])
        .default("limited")
        .describe("limited reads named kinds; broad reads everything and acts as every service account"),
      planNamespaces: z.array(namespaceName).default([]).describe("existing namespaces that opt in to plans"),
      readSecrets: z
        .boolean()
        .default(false)
        .describe("let the operator read every Secret, for plans that contain Secrets"),
      extraKinds: z
        .array(z.strictObject({ apiGroup: z.string(), resources: z.array(z.string().min(1)).min(1) }))
        .default([])
        .describe("further kinds that plans contain"),
    })
    .prefault({}),
  api: apiValues.prefault({}).describe("values of the chart quartermaster-api"),
  replicas: z.int().min(1).max(9).default(2).describe("replicas of the operator, of which one acts"),
  requireAuthor: z
    .boolean()
    .default(true)
    .describe("do nothing for plans and ClusterBundles whose author is not recorded"),
  requirePolicies: z
    .boolean()
    .default(true)
    .describe("do nothing while an admission policy of quartermaster-api is missing"),
  operator: z.strictObject(podSettings(ownPods)).prefault({}).describe("pods of the operator"),
  webhook: z
    .strictObject({
      replicas: z.int().min(1).max(50).default(2).describe("replicas of the webhook, all of which respond"),
      autoscaling: z
        .strictObject({
          enabled: z.boolean().default(false).describe("scale the webhook by its CPU"),
          maxReplicas: z.int().min(2).max(50).default(6).describe("most replicas"),
          targetCPUUtilizationPercentage: z.int().min(1).max(100).default(70).describe("load of a replica"),
        })
        .prefault({}),
      certificates: z
        .enum(["Operator", "CertManager", "ServiceCA"])
        .default("Operator")
        .describe("who issues the certificate: the operator, cert-manager, or the service CA of OpenShift"),
      issuerRef: z
        .strictObject({
          name: z.string().default("").describe("issuer of cert-manager, with certificates: CertManager"),
          kind: z.enum(["Issuer", "ClusterIssuer"]).default("Issuer").describe("its kind"),
        })
        .prefault({}),
      ...podSettings(ownPods),
    })
    .prefault({})
    .describe("the webhook that injects bundles into pods"),
  shareDriver: z
    .strictObject({
      enabled: z
        .boolean()
        .default(false)
        .describe("CSI driver for ClusterBundles, with a privileged namespace of its own"),
      kubeletPath: z
        .string()
        .regex(/^\//)
        .default("/var/lib/kubelet")
        .describe("directory of kubelet on the nodes"),
      // No limit of memory: content of volumes counts as memory of the driver.
      ...podSettings({
        requests: { cpu: "100m", memory: "96Mi" },
        limits: {},
        tolerations: [{ operator: "Exists" }],
        priorityClassName: "system-node-critical",
      }),
    })
    .prefault({}),
  subscription: z
    .strictObject({
      settings: z
        .looseObject({})
        .default({})
        .describe("settings of injection: docs/reference/subscription-config.md"),
    })
    .prefault({}),
  podDisruptionBudget: switchOf(true, "keep one replica available during a drain"),
  topologySpread: switchOf(true, "spread replicas over hosts and zones"),
  monitoring: z
    .strictObject({
      serviceMonitor: switchOf(false, "ServiceMonitors; the kind of prometheus-operator must exist"),
      prometheusRules: switchOf(false, "alert rules; the kind of prometheus-operator must exist"),
      dashboards: switchOf(false, "Grafana dashboards as ConfigMaps"),
    })
    .prefault({}),
  networkPolicy: z
    .strictObject({
      enabled: z.boolean().default(true).describe("limit which connections the pods open and accept"),
      apiServer: z
        .strictObject({
          ports: z
            .array(z.int().min(1).max(65_535))
            .min(1)
            .default([443, 6443])
            .describe("ports of the API server"),
          cidrs: z
            .array(z.string().min(1))
            .default([])
            .describe("addresses of the API server (default: all)"),
        })
        .prefault({}),
    })
    .prefault({}),
  image: z
    .strictObject({
      registry: z.string().default("quartermaster.local").describe("registry of all images"),
      tag: z.string().default("").describe("tag of all images (default: the version of the chart)"),
      pullPolicy: z
        .enum(["Always", "IfNotPresent", "Never"])
        .default("IfNotPresent")
        .describe("when images are pulled"),
    })
    .prefault({}),
  images: z
    .strictObject({
      operator: imageNamed("operator", "image of operator and webhook"),
      shareDriver: imageNamed("share-driver", "image of the share driver"),
      searchExporter: imageNamed("search-exporter", "image of the exporter beside search clusters"),
    })
    .prefault({}),
  imagePullSecrets: z
    .array(z.strictObject({ name: z.string().min(1) }))
    .default([])
    .describe("Secrets with credentials of the registry"),
});
