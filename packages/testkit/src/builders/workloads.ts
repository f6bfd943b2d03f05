/** Names an object and labels it; tests say only what matters to them. */
export interface Named {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An object any client takes. */
export interface BuiltObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Named;
}

/** A ConfigMap. */
export interface BuiltConfigMap extends BuiltObject {
  readonly data: Readonly<Record<string, string>>;
}

/** A ConfigMap with the given data. */
export function aConfigMap({
  data = {},
  ...named
}: Named & { readonly data?: Readonly<Record<string, string>> }): BuiltConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: named, data };
}

/** A Secret. */
export interface BuiltSecret extends BuiltObject {
  readonly type: string;
  readonly stringData: Readonly<Record<string, string>>;
}

/** An opaque Secret with the given plain values. */
export function aSecret({
  values = {},
  ...named
}: Named & { readonly values?: Readonly<Record<string, string>> }): BuiltSecret {
  return { apiVersion: "v1", kind: "Secret", metadata: named, type: "Opaque", stringData: values };
}

/** Something that runs pods. */
export interface BuiltWorkload extends BuiltObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

/** What a workload's pods are. */
export interface PodRequest {
  /** Default: an image that exists nowhere: pods on kwok nodes are simulated. */
  readonly image?: string | undefined;
  readonly command?: readonly string[] | undefined;
  readonly podAnnotations?: Readonly<Record<string, string>> | undefined;
}

/** A Deployment whose pods carry the label `app` with its name. */
export function aDeployment({
  replicas = 1,
  ...rest
}: Named & PodRequest & { readonly replicas?: number }): BuiltWorkload {
  const { named, pod } = partPod(rest);
  const labels = { app: named.name };
  const template = podTemplate(pod, { labels, restartPolicy: "Always" });
  const spec = { replicas, selector: { matchLabels: labels }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: named, spec };
}

/** A Job of one pod; with `outcome: "fail"` kwok lets it fail, with `"run"` it runs on. */
export function aJob({
  outcome = "complete",
  ...rest
}: Named & PodRequest & { readonly outcome?: "complete" | "fail" | "run" }): BuiltWorkload {
  const { named, pod } = partPod(rest);
  const ordered = outcome === "complete" ? {} : { "local-cluster.quartermaster.dev/outcome": outcome };
  const podAnnotations = { ...pod.podAnnotations, ...ordered };
  const template = podTemplate(
    { ...pod, podAnnotations },
    { labels: { job: named.name }, restartPolicy: "Never" },
  );
  return { apiVersion: "batch/v1", kind: "Job", metadata: named, spec: { backoffLimit: 0, template } };
}

/** Parts what is said of the object from what is said of its pods. */
function partPod({ image, command, podAnnotations, ...named }: Named & PodRequest): {
  readonly named: Named;
  readonly pod: PodRequest;
} {
  return { named, pod: { image, command, podAnnotations } };
}

interface PodLocation {
  readonly labels: Readonly<Record<string, string>>;
  readonly restartPolicy: "Always" | "Never";
}

function podTemplate(
  { image = "nowhere.invalid/none:1", command, podAnnotations = {} }: PodRequest,
  { labels, restartPolicy }: PodLocation,
): Readonly<Record<string, unknown>> {
  const container = { name: "main", image, ...(command === undefined ? {} : { command }) };
  return {
    metadata: { labels, annotations: podAnnotations },
    spec: { restartPolicy, containers: [container] },
  };
}
