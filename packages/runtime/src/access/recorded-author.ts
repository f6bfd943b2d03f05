import { z } from "zod";

import type { KubeObject } from "../object/kube-object.ts";

/** Who wrote an object, as a subject of access reviews. */
export interface RecordedAuthor {
  readonly user: string;
  readonly groups: readonly string[];
}

/** Annotations in which an admission policy records who wrote an object. */
export interface AuthorAnnotations {
  readonly user: string;
  /** The groups of that user: a JSON list of texts, so that no group name can pass for several. */
  readonly groups: string;
}

/**
 * The recorded author; undefined when none is recorded, and `unreadable` when the groups are no JSON list of texts. Only a list
 * that is read in full counts: half of the groups could mean another decision of an authorizer that denies by group.
 *
 * @example
 * const author = recordedAuthor(plan, { user: "example.com/author", groups: "example.com/author-groups" });
 */
export function recordedAuthor(
  { metadata: { annotations = {} } }: KubeObject,
  keys: AuthorAnnotations,
): RecordedAuthor | "unreadable" | undefined {
  const user = annotations[keys.user];
  if (user === undefined) return undefined;
  const groups = readGroups(annotations[keys.groups]);
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
