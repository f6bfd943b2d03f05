import type { ConditionUpdate } from "@quartermaster/runtime";

import { licensingReasons as reasons } from "../reasons.ts";

/** The condition Valid of a licence by its state, or why it cannot be used. */
export function validCondition(state: string, message: string): ConditionUpdate {
  const isValid = state === "Valid" || state === "ExpiringSoon";
  if (isValid)
    return { type: "Valid", status: "True", reason: reasons.valid, message: "The licence is valid." };
  if (state === "Scheduled")
    return {
      type: "Valid",
      status: "False",
      reason: reasons.scheduled,
      message: "The licence has not begun.",
    };
  if (state === "Expired")
    return { type: "Valid", status: "False", reason: reasons.expired, message: "The licence has expired." };
  return { type: "Valid", status: "False", reason: state, message };
}
