import { effect, type FieldTable, type IdleCase, none, type SpecPart, valueAt } from "./field-verdict.ts";

const standaloneOnly: IdleCase = {
  when: ({ spec }) => ["None", "Operator"].includes(String(valueAt(spec, "general.monitoring.stack.mode"))),
  why: "stack.mode is not Standalone.",
};

const noStack: IdleCase = {
  when: ({ spec }) => valueAt(spec, "general.monitoring.stack.mode") === "None",
  why: "stack.mode is None.",
};

function stackPart(part: "prometheus" | "alertmanager" | "grafana", idle: IdleCase): FieldTable {
  const at = `stack.${part}`;
  const container = `container ${part} of the monitoring stack`;
  return {
    [`${at}.image`]: effect(`image of ${container}`, idle),
    [`${at}.imagePullPolicy`]: effect(`imagePullPolicy of ${container}`, standaloneOnly),
    [`${at}.imagePullSecrets[].name`]: effect(`imagePullSecrets of its pods`, idle),
    [`${at}.resources`]: effect(`resources of ${container}`, idle),
  };
}

/** Fields of `general.monitoring`. */
export const monitoringFields: FieldTable = {
  enable: effect("Deployment and Service <cluster>-exporter and what belongs to it"),
  image: effect("image of container exporter"),
  imagePullPolicy: effect("imagePullPolicy of container exporter"),
  "imagePullSecrets[].name": effect("imagePullSecrets of the exporter's pod"),
  labels: effect("labels of ServiceMonitor <cluster>-monitor"),
  metricRelabelings: effect("ServiceMonitor <cluster>-monitor"),
  monitoringUserSecret: effect("volumes of the exporter's pod: its login"),
  pluginUrl: none("An exporter replaces the plugin and needs no restart."),
  relabelings: effect("ServiceMonitor <cluster>-monitor"),
  resources: effect("resources of container exporter"),
  scrapeInterval: effect("ServiceMonitor <cluster>-monitor"),
  "stack.claimName": effect("volume data of Prometheus", standaloneOnly),
  "stack.grafana.enable": effect("Deployment <cluster>-grafana", standaloneOnly),
  "stack.mode": effect("Prometheus and Alertmanager: none, objects of prometheus-operator, or Deployments"),
  "stack.receivers.name": effect("configuration of Alertmanager", noStack),
  "stack.retention": effect("arguments of Prometheus", noStack),
  ...stackPart("prometheus", noStack),
  ...stackPart("alertmanager", noStack),
  ...stackPart("grafana", standaloneOnly),
  tlsConfig: none("The exporter serves plain HTTP inside the cluster, and needs no TLS settings."),
};

function isSet(spec: SpecPart, path: string): boolean {
  const value = valueAt(spec, path);
  return value !== undefined && value !== "";
}

const needsNoHelper: IdleCase = {
  when: ({ spec }) => valueAt(spec, "general.setVMMaxMapCount") !== true,
  why: "Init container prepare needs the tools in the engine's image, and no other runs: set general.setVMMaxMapCount, or general.image.",
};

const hasNoImage: IdleCase = {
  when: ({ spec }) => !isSet(spec, "initHelper.image") && !isSet(spec, "initHelper.version"),
  why: "initHelper names no image.",
};

/** Fields of `confMgmt`, `initHelper`, `bootstrap` and `operations`. */
export const operatorFields: FieldTable = {
  bootstrap: none("A cluster forms without a bootstrap pod: its first managers do."),
  "confMgmt.VerUpdate": none("It has no effect in upstream's operator either.", [false]),
  "confMgmt.autoScaler": none(
    "It has no effect in upstream's operator either: set nodePools[].autoscaling.",
    [false],
  ),
  "confMgmt.smartScaler": effect("lane nodes: shards leave a node before it is removed"),
  "initHelper.image": effect("image of init container set-max-map-count", needsNoHelper),
  "initHelper.imagePullPolicy": effect(
    "imagePullPolicy of init container set-max-map-count",
    needsNoHelper,
    hasNoImage,
  ),
  "initHelper.imagePullSecrets[].name": effect("imagePullSecrets of the pods", needsNoHelper, hasNoImage),
  "initHelper.resources": effect("resources of init containers prepare and set-max-map-count"),
  "initHelper.version": effect("tag of image busybox of init container set-max-map-count", needsNoHelper, {
    when: ({ spec }) => isSet(spec, "initHelper.image"),
    why: "initHelper.image is set, and wins.",
  }),
  "operations.deletionProtection": effect("label deletion-protected of claims and Secrets"),
  "operations.paused": effect("condition Ready: Paused; only certificates are renewed"),
  "operations.windows[].cron": effect("lane nodes: OutsideWindow"),
  "operations.windows[].duration": effect("lane nodes: OutsideWindow"),
  "operations.windows[].timeZone": effect("lane nodes: OutsideWindow"),
};
