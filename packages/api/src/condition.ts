import { int64, listMap, timestamp } from "@quartermaster/runtime/schema";
import { z } from "zod";

/** A condition as all kinds of ours have them, readable by kstatus tools. */
export const condition = z.strictObject({
  type: z.string().max(316),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().max(1024).describe("Why, in one CamelCase word."),
  message: z.string().max(32_768).describe("One sentence for the user, the same on every retry."),
  lastTransitionTime: timestamp().describe(
    "When the status changed; it does not move while it stays the same.",
  ),
  observedGeneration: int64().optional().describe("The generation this was judged by."),
});

/** The conditions of a status, one per type. */
export const conditions = listMap(condition, ["type"])
  .max(32)
  .optional()
  .describe("Ready, Reconciling, Stalled, and what else the kind names.");
