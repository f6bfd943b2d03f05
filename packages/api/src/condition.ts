import { int64, listMap, timestamp } from "@quartermaster/runtime/schema";
import { z } from "zod";

/** A condition of any of our kinds, compatible with kstatus. */
export const condition = z.strictObject({
  type: z.string().max(316).describe("Type of the condition. At most 316 characters."),
  status: z.enum(["True", "False", "Unknown"]).describe("Status of the condition: True, False or Unknown."),
  reason: z.string().max(1024).describe("Reason for the last transition, one CamelCase word."),
  message: z
    .string()
    .max(32_768)
    .describe("Human-readable details about the transition. Does not change from one retry to the next."),
  lastTransitionTime: timestamp().describe(
    "Last time the status changed. Not updated while the status stays the same.",
  ),
  observedGeneration: int64()
    .optional()
    .describe("The metadata.generation that the condition was computed from."),
});

/** The conditions of a status, one per type. */
export const conditions = listMap(condition, ["type"])
  .max(32)
  .optional()
  .describe(
    "Conditions of the object, one per type: Ready, Reconciling, Stalled and those specific to the kind. At most 32.",
  );

/** The generation that a status belongs to; every kind with a controller has it. */
export const observedGeneration = int64()
  .optional()
  .describe("The metadata.generation that the status was computed from.");
