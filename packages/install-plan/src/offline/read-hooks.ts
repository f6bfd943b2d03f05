import { fieldOf, groupOf, isJsonObject, type JsonObject, textOf } from "@quartermaster/runtime";

import { describeIdentity } from "../model/identity.ts";
import type { Issue } from "../model/issue.ts";
import type { PackObject } from "./pack-objects.ts";

/** A job of a packed stage. */
export interface PackedJob {
  readonly name: string;
  readonly template: JsonObject;
  readonly keep?: "Never";
}

/** A stage that is made of hooks: objects, then jobs. */
export interface HookStage {
  readonly name: string;
  readonly objects: readonly PackObject[];
  readonly jobs: readonly PackedJob[];
}

/** Objects of a chart by their part in an installation. */
export interface HookReading {
  readonly plain: readonly PackObject[];
  /** Stages that run before all others except namespaces and definitions. */
  readonly before: readonly HookStage[];
  /** Stages that run after all others. */
  readonly after: readonly HookStage[];
  readonly warnings: readonly string[];
  readonly issues: readonly Issue[];
}

export interface HookOptions {
  readonly namespace: string;
  /** Whether the plan replaces another one: then the hooks of an upgrade run, otherwise those of an installation. */
  readonly isUpgrade: boolean;
}

/**
 * Takes Helm's hooks out of rendered manifests. Jobs and Pods become jobs of stages in the order of their weights, other objects
 * become resources of the same stages. Hooks that a plan has no place for are left out, each with a warning.
 */
export function readHooks(objects: readonly PackObject[], options: HookOptions): HookReading {
  const plain = objects.filter((object) => eventsOf(object).length === 0);
  const hooks = objects.filter((object) => eventsOf(object).length > 0);
  const step = options.isUpgrade ? "upgrade" : "install";
  const runsAt = (event: string): readonly PackObject[] =>
    hooks.filter((object) => eventsOf(object).includes(event)).toSorted(byWeight);
  const before = runsAt(`pre-${step}`);
  // A job may run twice, an object exists once.
  const after = runsAt(`post-${step}`).filter((object) => isJob(object) || !before.includes(object));
  const running = new Set([...before, ...after]);
  return {
    plain,
    before: stagesOf(`pre-${step}`, before),
    after: stagesOf(`post-${step}`, after),
    warnings: hooks.filter((object) => !running.has(object)).map((object) => leftOut(object, step)),
    issues: [...running].flatMap((object) => jobIssues(object, options.namespace)),
  };
}

const hookAnnotation = "helm.sh/hook";

function annotationOf({ manifest }: PackObject, name: string): string | undefined {
  return textOf(fieldOf(fieldOf(manifest, "metadata"), "annotations"), name);
}

function eventsOf(object: PackObject): readonly string[] {
  const events = annotationOf(object, hookAnnotation)?.split(",") ?? [];
  return events.map((event) => event.trim()).filter((event) => event !== "");
}

/** As Helm runs them; of equal weight, a job comes after the objects that it may need. */
function byWeight(one: PackObject, other: PackObject): number {
  return (
    weightOf(one) - weightOf(other) ||
    Number(isJob(one)) - Number(isJob(other)) ||
    one.identity.name.localeCompare(other.identity.name, "en")
  );
}

function weightOf(object: PackObject): number {
  const text = annotationOf(object, `${hookAnnotation}-weight`) ?? "";
  return /^[+-]?\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
}

/** A Pod that is a hook runs once, like a job. */
function isJob({ identity: { apiVersion, kind } }: PackObject): boolean {
  return (groupOf(apiVersion) === "batch" && kind === "Job") || (apiVersion === "v1" && kind === "Pod");
}

/** As many jobs as a stage may have. */
const jobLimit = 10;

/** An object that comes after a job by its weight begins a new stage. */
function stagesOf(name: string, hooks: readonly PackObject[]): readonly HookStage[] {
  const groups: { objects: PackObject[]; jobs: PackObject[] }[] = [];
  for (const hook of hooks) {
    const last = groups.at(-1);
    const isFull = last !== undefined && last.jobs.length >= (isJob(hook) ? jobLimit : 1);
    const group = last === undefined || isFull ? { objects: [], jobs: [] } : last;
    if (group !== last) groups.push(group);
    (isJob(hook) ? group.jobs : group.objects).push(hook);
  }
  return groups.map(({ objects, jobs }, index) => ({
    name: index === 0 ? name : `${name}-${index + 1}`,
    objects,
    jobs: jobs.map((job) => packedJob(job)),
  }));
}

function packedJob(hook: PackObject): PackedJob {
  const { manifest, identity } = hook;
  const spec = fieldOf(manifest, "spec");
  const template = isJsonObject(spec) ? spec : {};
  const isKept = !(annotationOf(hook, `${hookAnnotation}-delete-policy`) ?? "").includes("hook-failed");
  return {
    name: identity.name,
    template: identity.kind === "Job" ? template : { backoffLimit: 0, template: { spec: template } },
    ...(isKept ? {} : { keep: "Never" }),
  };
}

function jobIssues(hook: PackObject, namespace: string): readonly Issue[] {
  if (!isJob(hook)) return [];
  const name = `${hook.source}: ${describeIdentity(hook.identity)}`;
  const problems = [
    ...((hook.identity.namespace ?? namespace) === namespace
      ? []
      : [`a hook runs in the namespace of the plan, ${namespace}; render the chart for that namespace`]),
    ...(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(hook.identity.name)
      ? []
      : ["the name of a hook must be a DNS label; shorten the release name"]),
  ];
  return problems.map((problem) => ({ reason: "InvalidManifest", message: `${name}: ${problem}` }));
}

function leftOut(hook: PackObject, step: "install" | "upgrade"): string {
  const events = eventsOf(hook);
  const name = `${hook.source}: ${describeIdentity(hook.identity)}`;
  if (events.every((event) => event.startsWith("test")))
    return `${name}: the test hook is left out; run it yourself after the plan is Ready`;
  const hint =
    step === "install" && events.some((event) => event.endsWith("-upgrade"))
      ? "; it is part of a plan with --replaces"
      : "";
  return `${name}: the hook ${events.join(", ")} is left out: plans have no such step${hint}`;
}

/** Whether Helm would keep the object when its release is uninstalled. */
export function isKeptByHelm(object: PackObject): boolean {
  return annotationOf(object, "helm.sh/resource-policy")?.trim() === "keep";
}
