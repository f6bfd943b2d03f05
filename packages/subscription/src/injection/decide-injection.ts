import { ALWAYS_INJECT_LABEL, type Bundle, type ClusterBundle } from "@quartermaster/api";

import { type Problem, reasons } from "../reasons.ts";
import type { SubscriptionSettings } from "../subscription-settings.ts";
import { changedPod, noRecords, podPatch } from "./changed-pod.ts";
import { injectAnnotation } from "./choose-bundles.ts";
import { injectIntoPod } from "./inject-into-pod.ts";
import {
  injected,
  type InjectionDecision,
  type InjectionScope,
  rejected,
  skipped,
} from "./injection-decision.ts";
import type { Candidate, InjectionFacts } from "./injection-facts.ts";
import type { PodView } from "./pod-view.ts";
import { resolveBundle } from "./resolve-bundle.ts";
import { type Collected, SourceCollection } from "./source-collection.ts";

/**
 * Decides upon a new pod: which bundles it gets, whether they fit together and into its containers, and the patch that adds them.
 * Pure. A second call on the response of the first gives an empty patch.
 */
export function decideInjection(
  pod: PodView,
  facts: InjectionFacts,
  settings: SubscriptionSettings,
): InjectionDecision {
  if (pod.isMirror || pod.containers.length === 0) return skipped();
  const { choice } = facts;
  if (choice.kind === "problem") return rejected(choice.problem);
  const named = choice.candidates.find(({ isNamed }) => isNamed);
  if (pod.isWindows && named !== undefined) return rejected(windowsPod, locationOf(named));
  const gathered = gather(pod.isWindows ? [] : choice.candidates, { pod, facts, settings });
  if (gathered.kind === "problem") return rejected(gathered.problem, locationOf(gathered.candidate));
  return fit(pod, { ...gathered, warnings: [...choice.warnings, ...gathered.warnings] }, settings);
}

const windowsPod: Problem = {
  reason: reasons.unsupportedOs,
  text: "bundles cannot be injected into Windows pods; remove the annotation",
};

/** Fits the bundles into the pod. */
function fit(
  pod: PodView,
  { collected, warnings }: Extract<Gathered, { readonly kind: "gathered" }>,
  settings: SubscriptionSettings,
): InjectionDecision {
  if (collected.bundles.length === 0) return withoutBundles(pod, warnings);
  const scope = scopeOf(collected);
  const injection = injectIntoPod(pod, collected, settings);
  if (injection.kind === "problem") return rejected(injection.problem, { scope });
  const all = [...warnings, ...injection.warnings];
  if (injection.kind === "nothing") return withoutBundles(pod, all);
  return injected(podPatch(pod.object, changedPod(pod, injection.change)), { scope, warnings: all });
}

/** Whether a bundle applies to pods that do not name it. */
export function isAlwaysInjected({ metadata }: Bundle | ClusterBundle): boolean {
  return metadata.labels?.[ALWAYS_INJECT_LABEL] === "true" && metadata.deletionTimestamp === undefined;
}

interface Environment {
  readonly pod: PodView;
  readonly facts: InjectionFacts;
  readonly settings: SubscriptionSettings;
}

type Gathered =
  | { readonly kind: "gathered"; readonly collected: Collected; readonly warnings: readonly string[] }
  | { readonly kind: "problem"; readonly problem: Problem; readonly candidate: Candidate };

/** Named bundles come first and must fit; labelled ones are left out with a warning where the policies say so. */
function gather(candidates: readonly Candidate[], around: Environment): Gathered {
  const sources = new SourceCollection();
  const warnings: string[] = [];
  for (const candidate of candidates) {
    const problem = addTo(sources, candidate, around);
    if (problem === undefined) continue;
    if (candidate.isNamed || isStrict(problem, candidate, around))
      return { kind: "problem", problem: reported(problem, candidate, around), candidate };
    warnings.push(skipWarning(problem, candidate));
  }
  return { kind: "gathered", collected: sources.collected(), warnings };
}

function addTo(
  sources: SourceCollection,
  candidate: Candidate,
  { facts, settings }: Environment,
): Problem | undefined {
  const [first] = sources.collected().bundles;
  if (settings.mixedScopes === "Reject" && first !== undefined && first.candidate.kind !== candidate.kind)
    return { reason: reasons.mixedScopes, text: "Bundles and ClusterBundles cannot be combined in one pod" };
  const resolution = resolveBundle(candidate, facts);
  return resolution.kind === "problem" ? resolution.problem : sources.add(resolution.bundle);
}

/** Problems that a labelled bundle causes to the whole pod. A failed review is our problem, and never one of them. */
function isStrict({ reason }: Problem, { name }: Candidate, { facts, settings }: Environment): boolean {
  const { accessPolicy, conflictPolicy } = settings;
  if (reason === reasons.accessDenied)
    return accessPolicy === "Reject" && facts.access.get(name) === "denied";
  const isConflict = reason === reasons.entitlementKeyConflict || reason === reasons.repositoryKeyConflict;
  return isConflict && conflictPolicy === "Reject";
}

/** Who did not name a ClusterBundle and may not use it does not learn its name. */
function reported(problem: Problem, { isNamed }: Candidate, { pod, facts }: Environment): Problem {
  if (problem.reason !== reasons.accessDenied) return problem;
  const account = `service account "${pod.serviceAccount}" in "${facts.namespace}"`;
  const text = isNamed
    ? `${problem.text} not found or not permitted for ${account}; its administrator can bind its ClusterRole to the account`
    : `a ClusterBundle with the label ${ALWAYS_INJECT_LABEL} is not permitted for ${account}`;
  return { ...problem, text };
}

function skipWarning({ reason }: Problem, { kind, name }: Candidate): string {
  if (reason === reasons.accessDenied)
    return "an always-inject ClusterBundle is skipped: the pod's service account may not use it";
  return `always-inject ${kind} "${name}" is skipped: ${reason}`;
}

/** A generations annotation without bundles is forged or left over. */
function withoutBundles(pod: PodView, warnings: readonly string[]): InjectionDecision {
  const after = changedPod(pod, { volumes: pod.volumes, mounts: new Map(), records: noRecords });
  const patch = podPatch(pod.object, after);
  const { admission, ...rest } = skipped(warnings);
  return { ...rest, admission: patch.length === 0 ? admission : { ...admission, kind: "allow", patch } };
}

function scopeOf({ bundles }: Collected): InjectionScope {
  const kinds = [...new Set(bundles.map(({ candidate }) => candidate.kind))];
  return kinds.length > 1 ? "both" : (kinds[0] ?? "none");
}

function locationOf({ kind, isNamed }: Candidate): {
  readonly scope: InjectionScope;
  readonly field?: string;
} {
  return { scope: kind, ...(isNamed ? { field: `metadata.annotations[${injectAnnotation(kind)}]` } : {}) };
}
