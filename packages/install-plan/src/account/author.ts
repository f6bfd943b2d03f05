import type { InstallPlan } from "@quartermaster/api";
import { type RecordedAuthor, recordedAuthor } from "@quartermaster/runtime";

/** Who made a plan, as a subject of access reviews. */
export type Author = RecordedAuthor;

/** The user who made the plan, as the policy in config/policy records it; see `recordedAuthor`. */
export function authorOf(plan: InstallPlan): Author | "unreadable" | undefined {
  return recordedAuthor(plan, {
    user: "install.quartermaster.dev/author",
    groups: "install.quartermaster.dev/author-groups",
  });
}
