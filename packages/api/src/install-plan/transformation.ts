import { atomicList, cel, int32 } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { dnsLabel } from "./stage.ts";

const labelSelector = z.string().min(1).max(1024);

const from = cel(
  z.strictObject({
    apiVersion: z.string().min(1).max(317),
    kind: z.string().min(1).max(63),
    namespace: z
      .string()
      .max(63)
      .optional()
      .describe("(default: the plan's namespace). Empty means the same. Another one needs scope: Cluster."),
    names: atomicList(z.string().min(1).max(253))
      .min(1)
      .max(50)
      .optional()
      .describe("Read as the plan's account, which needs `get` on them."),
    labelSelector: labelSelector
      .optional()
      .describe("Evaluated as the plan's account, which needs `list`; so does fieldSelector."),
    fieldSelector: z.string().min(1).max(1024).optional(),
    allowUnowned: z.boolean().default(false).describe("Also delete objects that no plan of ours made."),
    maxMatches: int32()
      .min(1)
      .max(500)
      .default(50)
      .describe(
        "More matches than this stop the plan instead of deleting; so do more than 500 in all transformations of a plan.",
      ),
  }),
  {
    rule: "has(self.names) || has(self.labelSelector) || has(self.fieldSelector)",
    message: "at least one of names, labelSelector, fieldSelector",
  },
);

const to = z.strictObject({
  resources: atomicList(
    z.strictObject({ stage: dnsLabel, kind: z.string().min(1).max(63), name: z.string().min(1).max(253) }),
  )
    .max(50)
    .optional(),
  labelSelector: labelSelector.optional(),
});

/** When every `to` member is ready, every live `from` match that is no member itself is deleted. */
export const transformation = z.strictObject({
  name: dnsLabel,
  from,
  to,
  strategy: z.enum(["CreateBeforeDelete", "DeleteBeforeCreate"]).default("CreateBeforeDelete"),
  propagation: z.enum(["Background", "Foreground", "Orphan"]).default("Background"),
});
