import type { InstallPlan } from "@quartermaster/api";
import { digestOf } from "@quartermaster/runtime";

import { describeIdentity } from "../model/identity.ts";
import type { Issue } from "../model/issue.ts";
import type { Member } from "../model/member.ts";
import type { Content, ContentSources } from "./content.ts";
import { nearestKind } from "./nearest-kind.ts";
import { jobProblems } from "./object-problems.ts";
import { type PlanItem, planItems } from "./plan-items.ts";
import { isCrd, kindKey, providedKinds, type ProvidedKinds } from "./provided-kinds.ts";
import { type FindKind, issueFor, type MemberReading, mergeDuplicates, readMember } from "./read-member.ts";
import { transformationProblems } from "./transformation-problems.ts";

/**
 * Reads everything a plan says and checks what can be checked without asking the server: all problems together, nothing thrown.
 * While references are unresolved, faults that the missing content may mend (kinds, namespaces, transformations) are not
 * reported.
 */
export function readContent(plan: InstallPlan, sources: ContentSources): Content {
  const { items, issues, unresolved } = planItems(plan, sources);
  const { readings, provided, findKind } = readMembers(items, plan, sources);
  const merged = mergeDuplicates(readings.map(({ member }) => member));
  const isWhole = unresolved.length === 0;
  return {
    members: merged.members,
    issues: [
      ...issues,
      ...readings.flatMap((reading) => reading.issues),
      ...merged.issues,
      ...(isWhole ? leaningIssues(plan, merged.members, { sources, provided, findKind }) : []),
      ...jobIssues(plan),
      ...merged.members.flatMap((member) => readinessIssues(member, sources)),
    ],
    unresolved,
    warnings: [...readings.flatMap(({ warnings }) => warnings), ...merged.warnings],
    digest: contentDigest(plan),
    provided,
  };
}

interface Kinds {
  readonly provided: ProvidedKinds;
  readonly findKind: FindKind;
}

/** CRDs come first, because they define the scope of their objects. */
function readMembers(
  items: readonly PlanItem[],
  plan: InstallPlan,
  sources: ContentSources,
): Kinds & { readonly readings: readonly MemberReading[] } {
  const crds = items.filter(({ object }) =>
    isCrd({ apiVersion: String(object["apiVersion"]), kind: String(object["kind"]) }),
  );
  const clusterWide: FindKind = () => ({ plural: "customresourcedefinitions", scope: "Cluster" });
  const provided = providedKinds(crds.map((crd) => readMember(crd, plan, clusterWide).member));
  const findKind = kindFinder(provided, sources.kindOf);
  return { readings: items.map((item) => readMember(item, plan, findKind)), provided, findKind };
}

/** How kinds are found in a plan: what its own CRDs say goes before what is served today. */
export function kindFinder(provided: ProvidedKinds, kindOf: ContentSources["kindOf"]): FindKind {
  return (apiVersion, kind) => provided.get(kindKey(apiVersion, kind)) ?? kindOf(apiVersion, kind);
}

function leaningIssues(
  plan: InstallPlan,
  members: readonly Member[],
  { sources, provided, findKind }: Kinds & { readonly sources: ContentSources },
): readonly Issue[] {
  const { kindOf, servedKinds, hasNamespace } = sources;
  const scopeOf = (apiVersion: string, kind: string): "Namespaced" | "Cluster" | undefined =>
    findKind(apiVersion, kind)?.scope;
  return [
    ...missingProviders(members, {
      kindOf,
      servedKinds,
      hasNamespace,
      provided,
      namespace: plan.metadata.namespace,
    }),
    ...(plan.spec.transformations ?? []).flatMap((rule) =>
      transformationProblems(rule, { plan, members, scopeOf }).map(({ field, message }): Issue => {
        const path = `transformations[${rule.name}].${field}`;
        return {
          reason: "InvalidTransformation",
          field: path,
          message: `transformation ${rule.name}: ${field} ${message}`,
        };
      }),
    ),
  ];
}

function jobIssues({ spec }: InstallPlan): readonly Issue[] {
  return spec.stages.flatMap(({ name: stage, jobs = [] }) =>
    jobs.flatMap((job) =>
      jobProblems(job.template, spec.serviceAccountName).map(({ field, message }): Issue => {
        const path = `jobs[${job.name}].template.${field}`;
        return {
          reason: "InvalidJob",
          stage,
          field: path,
          message: `job ${job.name} of stage ${stage}: ${field} ${message}`,
        };
      }),
    ),
  );
}

function readinessIssues(member: Member, { checkExpression }: ContentSources): readonly Issue[] {
  return (member.readiness.checks ?? []).flatMap(({ cel }, index) => {
    const problem = cel === undefined ? undefined : checkExpression?.(cel.expression);
    if (problem === undefined) return [];
    const field = `readiness.checks[${index}].cel.expression`;
    return [issueFor(member, { field, message: `${field}: ${problem}` })];
  });
}

/** Neither lifecycle nor anything the server defaults: an upgrade that adds a default must not look like new content. */
function contentDigest({ spec }: InstallPlan): string {
  return digestOf(
    spec.stages.map(({ name, resources = [], jobs = [] }) => ({
      name,
      resources: resources.map(({ manifest, manifestRef }) => manifest ?? manifestRef?.sha256),
      jobs: jobs.map((job) => ({ name: job.name, template: job.template })),
    })),
  );
}

export interface Providers {
  readonly kindOf: ContentSources["kindOf"];
  readonly servedKinds: ContentSources["servedKinds"];
  readonly hasNamespace: ContentSources["hasNamespace"];
  readonly provided: ProvidedKinds;
  /** The plan's own; it is there as long as the plan is. */
  readonly namespace: string | undefined;
}

/** The members whose kind or namespace is neither there nor comes with the same or an earlier stage. */
function missingProviders(members: readonly Member[], providers: Providers): readonly Issue[] {
  const namespaces = namespaceStages(members);
  return members.flatMap((member) => [
    ...kindIssues(member, providers),
    ...namespaceIssues(member, providers, namespaces),
  ]);
}

function kindIssues(member: Member, { kindOf, servedKinds, provided }: Providers): readonly Issue[] {
  const { apiVersion, kind } = member.identity;
  const comesAt = provided.get(kindKey(apiVersion, kind))?.stageIndex;
  if ((comesAt !== undefined && comesAt <= member.stageIndex) || kindOf(apiVersion, kind) !== undefined)
    return [];
  const near = nearestKind({ apiVersion, kind }, servedKinds?.() ?? []);
  const hint = near === undefined ? "" : ` did you mean ${near}? Otherwise,`;
  const cause =
    comesAt === undefined
      ? `is not served;${hint} install its CustomResourceDefinition or add it to the plan`
      : "is provided by a later stage of the plan; move its CustomResourceDefinition to this stage or an earlier one";
  const message = `${describeIdentity(member.identity)}: the kind ${kind} of ${apiVersion} ${cause}`;
  return [issueFor(member, { reason: "KindMissing", field: "kind", message })];
}

/** The earliest stage that makes each namespace. */
function namespaceStages(members: readonly Member[]): ReadonlyMap<string, number> {
  const stages = new Map<string, number>();
  for (const { identity, stageIndex } of members) {
    if (identity.kind !== "Namespace" || identity.apiVersion !== "v1") continue;
    stages.set(identity.name, Math.min(stageIndex, stages.get(identity.name) ?? stageIndex));
  }
  return stages;
}

function namespaceIssues(
  member: Member,
  { hasNamespace, namespace: home }: Providers,
  stages: ReadonlyMap<string, number>,
): readonly Issue[] {
  const { namespace } = member.identity;
  if (namespace === undefined || namespace === home) return [];
  const comesAt = stages.get(namespace);
  if ((comesAt !== undefined && comesAt <= member.stageIndex) || hasNamespace(namespace)) return [];
  const cause =
    comesAt === undefined
      ? "does not exist; create it or add it to the plan"
      : "is created by a later stage; move it to this stage or an earlier one";
  const message = `${describeIdentity(member.identity)}: the namespace ${namespace} ${cause}`;
  return [issueFor(member, { reason: "NamespaceMissing", field: "metadata.namespace", message })];
}
