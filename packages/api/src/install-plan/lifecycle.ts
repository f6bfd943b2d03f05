import { atomicList, cel } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { immutableInPlan, planIsImmutable } from "./immutable-in-plan.ts";

const revert = z
  .enum(["Owned", "Strict", "Off"])
  .describe(
    "What happens to changes made by others. Owned: restores the fields in the manifest. Strict: also removes fields that disallowedManagers added under spec or data. Off: only reports the changes. Defaults to Owned; a resource inherits the plan's value.",
  );
const recreate = z
  .boolean()
  .describe("Recreate an object that was deleted. Defaults to true; a resource inherits the plan's value.");
const cleanup = z
  .enum(["Delete", "Orphan"])
  .describe(
    "What happens to the object when the plan is deleted. Delete: deletes it. Orphan: keeps it and removes the owner labels. Defaults to Delete; a resource inherits the plan's value.",
  );
const adoption = z
  .enum(["Never", "IfUnowned", "Always"])
  .describe(
    "Whether the plan takes over an existing object that it did not create. Never: reports a conflict. IfUnowned: adopts objects that belong to no plan and no controller. Always: adopts any object. Defaults to Never; a resource inherits the plan's value.",
  );
const onImmutable = z
  .enum(["Fail", "Recreate"])
  .describe(
    "What to do when an update changes an immutable field. Fail: the attempt fails. Recreate: deletes the object and creates it again. Defaults to Fail; a resource inherits the plan's value.",
  );
const ignorePaths = atomicList(z.string().max(512).regex(/^\//))
  .max(50)
  .describe(
    "JSON pointers to fields that the plan sets at creation and then leaves to others, for example /spec/replicas. Defaults to none; a resource inherits the plan's value. At most 50 pointers of 512 characters.",
  );
const disallowedManagers = atomicList(z.string().min(1).max(128))
  .max(50)
  .describe(
    "Field managers whose additions revert: Strict removes; * means all except the plan. Fields written through a subresource, such as scale, are never removed. Defaults to the field managers of kubectl edit, apply, patch and replace; a resource inherits the plan's value. At most 50 names of 128 characters.",
  );
const protectData = z
  .boolean()
  .describe(
    "Never delete a PersistentVolumeClaim, or a CustomResourceDefinition or Namespace that still contains objects of others: orphan and report them instead. Defaults to true; a resource inherits the plan's value.",
  );

/** Lifecycle policy of a plan, with its defaults. The fields that decide which objects the plan touches, and how, are immutable. */
export const planLifecycle = cel(
  z.strictObject({
    revert: revert.default("Owned"),
    recreate: recreate.default(true),
    cleanup: cleanup.default("Delete"),
    adoption: immutableInPlan(adoption).default("Never"),
    onImmutable: immutableInPlan(onImmutable).default("Fail"),
    ignorePaths: immutableInPlan(ignorePaths).optional(),
    disallowedManagers: disallowedManagers.default([
      "kubectl-edit",
      "kubectl-client-side-apply",
      "kubectl-patch",
      "kubectl-replace",
    ]),
    protectData: protectData.default(true),
  }),
  { rule: "has(self.ignorePaths) == has(oldSelf.ignorePaths)", message: `ignorePaths ${planIsImmutable}` },
);

/** Lifecycle policy of one resource: a field that is not set inherits the plan's value. */
export const resourceLifecycle = z.strictObject({
  revert: revert.optional(),
  recreate: recreate.optional(),
  cleanup: cleanup.optional(),
  adoption: adoption.optional(),
  onImmutable: onImmutable.optional(),
  ignorePaths: ignorePaths.optional(),
  disallowedManagers: disallowedManagers.optional(),
  protectData: protectData.optional(),
});
