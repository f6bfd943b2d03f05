import { atomicList, cel, int32 } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { anyObjectName, namespaceNameOrEmpty } from "../object-name.ts";
import { dnsLabel } from "./stage.ts";

const labelSelector = z.string().min(1).max(1024);

const from = cel(
  z.strictObject({
    apiVersion: z
      .string()
      .min(1)
      .max(317)
      .describe("API version of the objects to delete. At most 317 characters."),
    kind: z.string().min(1).max(63).describe("Kind of the objects to delete. At most 63 characters."),
    namespace: namespaceNameOrEmpty()
      .optional()
      .describe(
        "Namespace of the objects to delete. Defaults to the plan's namespace, also if empty. Another namespace requires scope: Cluster. At most 63 characters.",
      ),
    names: atomicList(anyObjectName())
      .min(1)
      .max(50)
      .optional()
      .describe(
        "Names of the objects to delete. Read as the plan's service account, which needs `get` on them. At most 50 names of 253 characters.",
      ),
    labelSelector: labelSelector
      .optional()
      .describe(
        "Label selector for the objects to delete. Evaluated as the plan's service account, which needs `list`. At most 1024 characters.",
      ),
    fieldSelector: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .describe(
        "Field selector for the objects to delete. Evaluated as the plan's service account, which needs `list`. At most 1024 characters.",
      ),
    allowUnowned: z
      .boolean()
      .default(false)
      .describe("Also delete objects that no InstallPlan created. Defaults to false."),
    maxMatches: int32()
      .min(1)
      .max(500)
      .default(50)
      .describe(
        "Maximum number of matching objects. With more matches, or more than 500 across all transformations of the plan, the plan stops and deletes none. Defaults to 50, at most 500.",
      ),
  }),
  {
    rule: "has(self.names) || has(self.labelSelector) || has(self.fieldSelector)",
    message: "at least one of names, labelSelector, fieldSelector",
  },
);

const to = z.strictObject({
  resources: atomicList(
    z.strictObject({
      stage: dnsLabel.describe("Stage of the resource. A DNS label of at most 63 characters."),
      kind: z.string().min(1).max(63).describe("Kind of the resource. At most 63 characters."),
      name: anyObjectName().describe("Name of the resource. At most 253 characters."),
    }),
  )
    .max(50)
    .optional()
    .describe("Resources of the plan that take the place of the deleted objects. At most 50."),
  labelSelector: labelSelector
    .optional()
    .describe("Selects resources of the plan by their labels. At most 1024 characters."),
});

/** When every `to` member is ready, deletes every live `from` match that is not a member itself. */
export const transformation = z.strictObject({
  name: dnsLabel.describe(
    "Name of the transformation, unique in the plan. A DNS label of at most 63 characters.",
  ),
  from: from.describe("Objects to delete. Members of the plan are never deleted."),
  to: to.describe("Resources of the plan that take their place."),
  strategy: z
    .enum(["CreateBeforeDelete", "DeleteBeforeCreate"])
    .default("CreateBeforeDelete")
    .describe(
      "When the objects are deleted. CreateBeforeDelete: after their replacements are ready. DeleteBeforeCreate: before the first stage; requires approval: Manual or allowUnowned: true. Defaults to CreateBeforeDelete.",
    ),
  propagation: z
    .enum(["Background", "Foreground", "Orphan"])
    .default("Background")
    .describe("Propagation policy of the deletion. Defaults to Background."),
});
