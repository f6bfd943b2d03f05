import { effect, type FieldTable, none, valueAt } from "./field-verdict.ts";
import { volumeFields } from "./general-fields.ts";

const pods: FieldTable = {
  affinity: effect("affinity of the pods"),
  annotations: effect("annotations of the pods"),
  env: effect("env of container dashboards"),
  hostAliases: effect("hostAliases of the pods"),
  labels: effect("labels of the pods"),
  nodeSelector: effect("nodeSelector of the pods"),
  podSecurityContext: effect("securityContext of the pods"),
  priorityClassName: effect("priorityClassName of the pods"),
  resources: effect("resources of container dashboards"),
  securityContext: effect("securityContext of container dashboards"),
  tolerations: effect("tolerations of the pods"),
  topologySpreadConstraints: effect("topologySpreadConstraints of the pods"),
};

const tls: FieldTable = {
  "tls.enable": effect("server.ssl.enabled in its configuration file"),
  "tls.generate": effect("Secret <cluster>-dashboards-cert, or the author's Secret"),
  "tls.secret.name": effect("volume certificate of the pods", {
    when: ({ spec }) =>
      (valueAt(spec, "dashboards.tls.generate") ?? valueAt(spec, "kibana.tls.generate")) === true,
    why: "The operator issues the certificate: generate is true.",
  }),
  "tls.caSecret": none("The CA of the cluster signs the certificate."),
  "tls.duration": none("The certificate is as long valid as those of nodes.", ["8760h"]),
  "tls.enableHotReload": none("Its pods are replaced one by one when the certificate changes.", [false]),
};

/** Fields of `dashboards`, and of `kibana`. */
export const dashboardsFields: FieldTable = {
  ...pods,
  ...tls,
  ...Object.fromEntries(
    Object.entries(volumeFields("dashboards")).map(([field, verdict]) => [
      `additionalVolumes[].${field}`,
      verdict,
    ]),
  ),
  "additionalVolumes[].restartPods": none(
    "The content of these volumes is not followed: restart the pods with kubectl rollout restart.",
    [false],
  ),
  additionalConfig: effect("ConfigMap <cluster>-dashboards-config"),
  basePath: effect("server.basePath in its configuration file"),
  enable: effect("Deployment <cluster>-dashboards and what belongs to it"),
  image: effect("image of container dashboards"),
  imagePullPolicy: effect("imagePullPolicy of container dashboards"),
  "imagePullSecrets[].name": effect("imagePullSecrets of the pods"),
  "opensearchCredentialsSecret.name": effect("env of container dashboards: its login"),
  opensearchDashboardsHome: effect("mount paths of container dashboards"),
  pluginsList: none("Plugins are not installed: use an image that has them."),
  replicas: effect("replicas of the Deployment"),
  "service.labels": effect("labels of Service <serviceName>-dashboards"),
  "service.loadBalancerSourceRanges": effect("Service <serviceName>-dashboards", {
    when: ({ spec }) =>
      (valueAt(spec, "dashboards.service.type") ?? valueAt(spec, "kibana.service.type")) !== "LoadBalancer",
    why: "service.type is not LoadBalancer.",
  }),
  "service.type": effect("Service <serviceName>-dashboards"),
  version: effect("tag of the image"),
};
