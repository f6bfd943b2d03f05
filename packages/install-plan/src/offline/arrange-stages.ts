import { groupOf } from "@quartermaster/runtime";

import type { Identity } from "../model/identity.ts";
import type { PackObject } from "./pack-objects.ts";
import type { WantedStage } from "./pack.ts";

/** As many resources as one stage may have. */
const stageLimit = 500;

/** Objects under the name of their stage. */
export interface ArrangedStage {
  readonly name: string;
  readonly objects: readonly PackObject[];
}

/** Default stages in their order, then the wanted ones in theirs; objects keep their order; large stages become several. */
export function arrangeStages(
  objects: readonly PackObject[],
  wanted: readonly WantedStage[],
): readonly ArrangedStage[] {
  const stages = Map.groupBy(objects, ({ identity }) => stageFor(identity, wanted));
  const order = new Set([...defaultStages, ...wanted.map(({ name }) => name)]);
  return [...order].flatMap((name) => split(name, stages.get(name) ?? []));
}

/** A warning for each selection without an object: after a typing error its objects would stay where they were. */
export function emptyStages(
  objects: readonly PackObject[],
  wanted: readonly WantedStage[],
): readonly string[] {
  return wanted.flatMap(({ name, select }) =>
    select
      .filter((pattern) => !objects.some(({ identity }) => isSelected(identity, pattern)))
      .map((pattern) => `stage ${name}: no object matches ${pattern}; write kinds as in manifests`),
  );
}

function stageFor(identity: Identity, wanted: readonly WantedStage[]): string {
  const stage = wanted.find(({ select }) => select.some((pattern) => isSelected(identity, pattern)));
  return stage?.name ?? defaultStageOf(identity);
}

function isSelected({ kind, name }: Identity, pattern: string): boolean {
  const slash = pattern.indexOf("/");
  if (slash === -1) return kind === pattern;
  return kind === pattern.slice(0, slash) && matchesGlob(name, pattern.slice(slash + 1));
}

/** Every part between stars in its order, the first at the start, the last at the end. */
function matchesGlob(name: string, glob: string): boolean {
  const [first = "", ...others] = glob.split("*");
  const last = others.pop();
  if (last === undefined) return name === glob;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  const middle = name.slice(first.length, name.length - last.length);
  return others.reduce((at, part) => nextAfter(middle, part, at), 0) !== -1;
}

function nextAfter(text: string, part: string, at: number): number {
  const found = at === -1 ? -1 : text.indexOf(part, at);
  return found === -1 ? -1 : found + part.length;
}

function split(name: string, objects: readonly PackObject[]): readonly ArrangedStage[] {
  const count = Math.ceil(objects.length / stageLimit);
  return Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? name : `${name}-${index + 1}`,
    objects: objects.slice(index * stageLimit, (index + 1) * stageLimit),
  }));
}

/**
 * The default stages in their order: what others need comes first. Registrations follow the workloads that serve them, and
 * custom resources come last: then their definitions, controllers and webhooks are in place, and on deletion they go first,
 * while their controller can still clean up after them.
 */
export const defaultStages = [
  "namespaces",
  "definitions",
  "policies",
  "config",
  "rbac",
  "storage",
  "services",
  "workloads",
  "registrations",
  "custom",
] as const;

/** The name of a default stage. */
export type DefaultStage = (typeof defaultStages)[number];

/** The stage to which an object belongs by its kind; kinds that Kubernetes does not know are custom resources. */
function defaultStageOf({ apiVersion, kind }: Identity): DefaultStage {
  return stages.get(`${groupOf(apiVersion)}/${kind}`) ?? "custom";
}

const kindsOfStages: Readonly<Record<Exclude<DefaultStage, "custom">, string>> = {
  namespaces: "/Namespace",
  definitions: "apiextensions.k8s.io/CustomResourceDefinition",
  policies:
    "/ServiceAccount /ResourceQuota /LimitRange scheduling.k8s.io/PriorityClass node.k8s.io/RuntimeClass networking.k8s.io/NetworkPolicy policy/PodDisruptionBudget flowcontrol.apiserver.k8s.io/FlowSchema flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration",
  config: "/ConfigMap /Secret",
  rbac: "rbac.authorization.k8s.io/Role rbac.authorization.k8s.io/ClusterRole rbac.authorization.k8s.io/RoleBinding rbac.authorization.k8s.io/ClusterRoleBinding",
  storage:
    "/PersistentVolume /PersistentVolumeClaim storage.k8s.io/StorageClass storage.k8s.io/CSIDriver storage.k8s.io/VolumeAttributesClass",
  services:
    "/Service /Endpoints discovery.k8s.io/EndpointSlice networking.k8s.io/Ingress networking.k8s.io/IngressClass",
  workloads:
    "/Pod /PodTemplate /ReplicationController apps/Deployment apps/StatefulSet apps/DaemonSet apps/ReplicaSet batch/Job batch/CronJob autoscaling/HorizontalPodAutoscaler",
  registrations:
    "apiregistration.k8s.io/APIService admissionregistration.k8s.io/ValidatingWebhookConfiguration admissionregistration.k8s.io/MutatingWebhookConfiguration admissionregistration.k8s.io/ValidatingAdmissionPolicy admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding admissionregistration.k8s.io/MutatingAdmissionPolicy admissionregistration.k8s.io/MutatingAdmissionPolicyBinding",
};

const stages: ReadonlyMap<string, DefaultStage> = new Map(
  defaultStages.flatMap((stage) =>
    stage === "custom"
      ? []
      : kindsOfStages[stage].split(" ").map((kind): [string, DefaultStage] => [kind, stage]),
  ),
);
