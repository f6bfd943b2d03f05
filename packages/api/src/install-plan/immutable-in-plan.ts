import { immutable } from "@quartermaster/runtime/schema";
import type { z } from "zod";

/** Why a change of a plan is refused, and what to do instead: the end of the API server's message. */
export const planIsImmutable =
  "is immutable; put the change into a new plan that lists this one in spec.replaces.plans";

/** A field of a plan that cannot be changed. One that is set or unset later needs a rule on its parent. */
export function immutableInPlan<T extends z.ZodType>(schema: T): T {
  return immutable(schema, planIsImmutable);
}
