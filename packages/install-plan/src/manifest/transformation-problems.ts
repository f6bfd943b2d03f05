import type { InstallPlan } from "@quartermaster/api";
import {
  fieldOf,
  type LabelRequirement,
  meetsAll,
  parseLabelSelector as parse,
  textOf,
} from "@quartermaster/runtime";

import type { Member } from "../model/member.ts";
import { isPathSegment, type ObjectProblem } from "./object-problems.ts";

/** A transformation as the plan writes it. */
export type Transformation = NonNullable<InstallPlan["spec"]["transformations"]>[number];

export interface TransformationFacts {
  readonly plan: InstallPlan;
  readonly members: readonly Member[];
  /** Undefined when the kind is not known; it then has no objects either. */
  readonly scopeOf: (apiVersion: string, kind: string) => "Namespaced" | "Cluster" | undefined;
}

/** All problems of a transformation. It deletes objects of others, so doubt is refused. */
export function transformationProblems(
  rule: Transformation,
  facts: TransformationFacts,
): readonly ObjectProblem[] {
  return [
    ...fromProblems(rule, facts),
    ...toProblems(rule, facts.members),
    ...strategyProblems(rule, facts.plan),
  ];
}

/** The members that a transformation waits for: those named and those whose labels match. */
export function transformationTargets(
  { to }: Pick<Transformation, "to">,
  members: readonly Member[],
): readonly Member[] {
  const demands = to.labelSelector === undefined ? undefined : parseLabelSelector(to.labelSelector);
  return members.filter(
    (member) =>
      (to.resources ?? []).some((target) => isTarget(member, target)) ||
      (demands !== undefined && matchesLabels(member.manifest, demands)),
  );
}

type Target = NonNullable<Transformation["to"]["resources"]>[number];

function isTarget({ stage, identity }: Member, target: Target): boolean {
  return stage === target.stage && identity.kind === target.kind && identity.name === target.name;
}

function fromProblems(
  { from }: Transformation,
  { plan, scopeOf }: TransformationFacts,
): readonly ObjectProblem[] {
  const { names = [], labelSelector, fieldSelector } = from;
  const hasSelection = names.length > 0 || labelSelector !== undefined || fieldSelector !== undefined;
  return [
    ...(hasSelection ? [] : [{ field: "from", message: "must select objects by names or a selector" }]),
    ...names.flatMap((name, index) =>
      isPathSegment(name) ? [] : [{ field: `from.names[${index}]`, message: "is not a valid object name" }],
    ),
    ...selectorProblems("from.labelSelector", labelSelector),
    ...(fieldSelector === undefined || isFieldSelector(fieldSelector)
      ? []
      : [{ field: "from.fieldSelector", message: "must be of the form field=value and not empty" }]),
    ...(plan.spec.scope === "Namespace" ? namespaceProblems(from, { plan, scopeOf }) : []),
  ];
}

function isFieldSelector(selector: string): boolean {
  // Trimmed first: spaces on both sides of an empty value would be tried in every division.
  return selector.split(",").every((part) => /^[\w.]+\s*(?:==?|!=)\s*[^=,\s]*$/.test(part.trim()));
}

function namespaceProblems(
  { apiVersion, kind, namespace = "" }: Transformation["from"],
  { plan, scopeOf }: Pick<TransformationFacts, "plan" | "scopeOf">,
): readonly ObjectProblem[] {
  const home = plan.metadata.namespace;
  return [
    ...(namespace === "" || namespace === home
      ? []
      : [{ field: "from.namespace", message: `must be ${home}: the plan's scope is Namespace` }]),
    ...(scopeOf(apiVersion, kind) === "Cluster"
      ? [{ field: "from.kind", message: `${kind} is cluster-scoped and the plan's scope is Namespace` }]
      : []),
  ];
}

function toProblems({ to }: Transformation, members: readonly Member[]): readonly ObjectProblem[] {
  const malformed = selectorProblems("to.labelSelector", to.labelSelector);
  const absent = (to.resources ?? [])
    .map((target, index) => ({ target, field: `to.resources[${index}]` }))
    .filter(({ target }) => !members.some((member) => isTarget(member, target)))
    .map(({ target, field }) => ({
      field,
      message: `stage ${target.stage} has no ${target.kind} ${target.name}`,
    }));
  const problems = [...malformed, ...absent];
  if (problems.length > 0 || transformationTargets({ to }, members).length > 0) return problems;
  return [{ field: "to", message: "selects no resource of the plan" }];
}

/** Values that mean "everything" to the server are refused here: a typing error must not delete a namespace's content. */
function selectorProblems(field: string, selector: string | undefined): readonly ObjectProblem[] {
  if (selector === undefined || parseLabelSelector(selector) !== undefined) return [];
  return [{ field, message: "must be a non-empty label selector" }];
}

function strategyProblems(
  { strategy, from }: Transformation,
  { spec }: InstallPlan,
): readonly ObjectProblem[] {
  if (strategy === "CreateBeforeDelete" || spec.approval === "Manual" || from.allowUnowned) return [];
  return [
    { field: "strategy", message: "DeleteBeforeCreate requires approval: Manual or from.allowUnowned: true" },
  ];
}

/** The CRD has the same limit. */
const lengthLimit = 1_024;

/** As the runtime reads it; undefined also when it is longer than a plan may say. */
export function parseLabelSelector(selector: string): readonly LabelRequirement[] | undefined {
  return selector.length > lengthLimit ? undefined : parse(selector);
}

/** Whether an object's labels meet every demand. */
export function matchesLabels(manifest: unknown, requirements: readonly LabelRequirement[]): boolean {
  const labels = fieldOf(fieldOf(manifest, "metadata"), "labels");
  return meetsAll((key) => textOf(labels, key), requirements);
}
