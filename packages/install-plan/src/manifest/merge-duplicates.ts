import { describeIdentity } from "../identity.ts";
import type { Issue } from "../issue.ts";
import type { Member } from "../member.ts";
import { issueFor } from "./plan-members.ts";

/** The members without repetitions. */
export interface Merged {
  readonly members: readonly Member[];
  readonly issues: readonly Issue[];
  readonly warnings: readonly string[];
}

/**
 * Keeps the first of several members that are the same object. Copies that are alike to the byte are a warning, as large
 * bundles ship them; copies that differ are an issue on each, and so are two versions of one kind.
 */
export function mergeDuplicates(members: readonly Member[]): Merged {
  const groups = [...Map.groupBy(members, ({ key }) => key).values()];
  const repeated = groups.filter((group) => group.length > 1);
  const [alike, unlike] = [repeated.filter(areAlike), repeated.filter((group) => !areAlike(group))];
  return {
    members: groups.flatMap(([first]) => (first === undefined ? [] : [first])),
    issues: unlike.flatMap((group) => group.map((member) => differing(member, group))),
    warnings: alike.flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : [`${describeIdentity(first.identity)}: ${others.length} identical copies were dropped`],
    ),
  };
}

function areAlike(group: readonly Member[]): boolean {
  return group.every(({ digest }) => digest === group[0]?.digest);
}

function differing(member: Member, group: readonly Member[]): Issue {
  const places = group.filter((other) => other !== member).map(({ stage, index }) => `${stage}[${index}]`);
  const others = [...new Set(places)].toSorted().join(", ");
  return issueFor(member, {
    message: `${describeIdentity(member.identity)}: is in the plan more than once with different content, also at ${others}`,
  });
}
