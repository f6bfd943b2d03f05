import { hasStarted } from "../model/plan-status.ts";
import type { Seen } from "../seen.ts";
import { previewOf } from "./preview.ts";

/** What an approval is judged by. */
export type ApprovalFacts = Pick<Seen, "plan" | "preflight" | "members">;

/**
 * State of the approval of a plan: `missing` waits for one, `outdated` has one for another preview than the present one.
 * Without a fresh preview it is compared with the last one.
 */
export function approvalOf(facts: ApprovalFacts): "automatic" | "given" | "missing" | "outdated" {
  const { plan } = facts;
  const { approval, approved } = plan.spec;
  if (approval === "Automatic") return "automatic";
  if (hasStarted(plan)) return "given";
  if (!approved) return "missing";
  const present = previewOf(facts)?.digest ?? plan.status?.preview?.digest;
  return coveredPreview(facts) === present ? "given" : "outdated";
}

/**
 * The digest of the preview that the approval covers. An approval that names none covers the preview that the status showed
 * when it was first seen, and no later one; at creation that is the first preview. Undefined while there is no preview.
 */
export function coveredPreview(facts: ApprovalFacts): string | undefined {
  const { spec, status } = facts.plan;
  if (spec.approval === "Automatic" || !spec.approved) return undefined;
  return (
    spec.approvedPreview ?? status?.approvedPreview ?? status?.preview?.digest ?? previewOf(facts)?.digest
  );
}
