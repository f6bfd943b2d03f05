import type { InstallPlan } from "@quartermaster/api";
import { z } from "zod";

/** The user who made the plan, as the policy in config/policy records it. */
const authorAnnotation = "install.quartermaster.dev/author";
/** The groups of that user: a JSON list of texts, so that no group name can pass for several. */
const authorGroupsAnnotation = "install.quartermaster.dev/author-groups";

/** Who made a plan, as a subject of access reviews. */
export interface Author {
  readonly user: string;
  readonly groups: readonly string[];
}

/**
 * The recorded author; undefined when none is recorded, and `unreadable` when the groups are no JSON list of texts. Only a list
 * that is read in full counts: half of the groups could mean another decision of an authorizer that denies by group.
 */
export function authorOf({ metadata: { annotations = {} } }: InstallPlan): Author | "unreadable" | undefined {
  const user = annotations[authorAnnotation];
  if (user === undefined) return undefined;
  const groups = readGroups(annotations[authorGroupsAnnotation]);
  return groups === undefined ? "unreadable" : { user, groups };
}

const groupList = z.array(z.string());

function readGroups(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return [];
  try {
    return groupList.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
