import { effect, type FieldTable, type IdleCase, none, type SpecPart, valueAt } from "./field-verdict.ts";
import { volumeFields } from "./general-fields.ts";

const pods: FieldTable = {
  affinity: effect("affinity of the pods"),
  annotations: effect("annotations of the pods, of Deployment and Service"),
  env: effect("env of container dashboards"),
  hostAliases: effect("hostAliases of the pods"),
  labels: effect("labels of the pods and of the Deployment"),
  nodeSelector: effect("nodeSelector of the pods"),
  podSecurityContext: effect("securityContext of the pods"),
  priorityClassName: effect("priorityClassName of the pods"),
  resources: effect("resources of container dashboards"),
  securityContext: effect("securityContext of container dashboards"),
  tolerations: effect("tolerations of the pods"),
  topologySpreadConstraints: effect("topologySpreadConstraints of the pods"),
};

/** Fields of `tls` of Dashboards or Kibana. */
function tlsOf(spec: SpecPart): (path: string) => unknown {
  return (path) => valueAt(spec, `dashboards.tls.${path}`) ?? valueAt(spec, `kibana.tls.${path}`);
}

function isSupplied(spec: SpecPart): boolean {
  const name = tlsOf(spec)("secret.name");
  return tlsOf(spec)("generate") !== true && typeof name === "string" && name !== "";
}

const isOwn: IdleCase = {
  when: ({ spec }) => isSupplied(spec),
  why: "The certificate is the author's: it is in tls.secret.",
};

const tls: FieldTable = {
  "tls.enable": effect("server.ssl.enabled in its configuration file"),
  "tls.generate": effect("Secret <cluster>-dashboards-cert, or the author's Secret", {
    when: ({ spec }) => tlsOf(spec)("generate") === false && !isSupplied(spec),
    why: "The operator issues the certificate, because tls.secret is not set.",
  }),
  "tls.secret.name": effect("volume certificate of the pods", {
    when: ({ spec }) => tlsOf(spec)("generate") === true,
    why: "The operator issues the certificate: generate is true.",
  }),
  "tls.caSecret.name": effect("issuer of the certificate in Secret <cluster>-dashboards-cert", isOwn),
  "tls.duration": effect("validity of the certificate in Secret <cluster>-dashboards-cert", {
    ...isOwn,
    when: (scope) => isOwn.when(scope) && tlsOf(scope.spec)("duration") !== "8760h",
  }),
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
  pluginsList: effect("arguments of init container install-plugins"),
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
