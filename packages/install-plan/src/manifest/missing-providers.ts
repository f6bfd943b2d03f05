import { describeIdentity } from "../identity.ts";
import type { Issue } from "../issue.ts";
import type { Member } from "../member.ts";
import type { ContentSources } from "./content.ts";
import { issueFor } from "./plan-members.ts";
import { kindKey, type ProvidedKinds } from "./provided-kinds.ts";

/** What members can lean on. */
export interface Providers {
  readonly kindOf: ContentSources["kindOf"];
  readonly hasNamespace: ContentSources["hasNamespace"];
  readonly provided: ProvidedKinds;
  /** The plan's own; it is there as long as the plan is. */
  readonly namespace: string | undefined;
}

/** The members whose kind or namespace is neither there nor comes with the same or an earlier stage. */
export function missingProviders(members: readonly Member[], providers: Providers): readonly Issue[] {
  const namespaces = namespaceStages(members);
  return members.flatMap((member) => [
    ...kindIssues(member, providers),
    ...namespaceIssues(member, providers, namespaces),
  ]);
}

function kindIssues(member: Member, { kindOf, provided }: Providers): readonly Issue[] {
  const { apiVersion, kind } = member.identity;
  const comesAt = provided.get(kindKey(apiVersion, kind))?.stageIndex;
  if ((comesAt !== undefined && comesAt <= member.stageIndex) || kindOf(apiVersion, kind) !== undefined)
    return [];
  const cause =
    comesAt === undefined
      ? "is not served; install its CustomResourceDefinition or add it to the plan"
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
