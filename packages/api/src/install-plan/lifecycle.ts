import { atomicList, cel, immutable } from "@quartermaster/runtime/schema";
import { z } from "zod";

const revert = z
  .enum(["Owned", "Strict", "Off"])
  .describe(
    "What becomes of changes others make. Owned: the fields of our manifest are restored. Strict: fields that disallowed managers added under spec or data go too. Off: they are reported only.",
  );
const recreate = z.boolean().describe("Whether an object that was deleted is made again.");
const cleanup = z.enum(["Delete", "Orphan"]).describe("What becomes of the object when the plan is deleted.");
const adoption = z
  .enum(["Never", "IfUnowned", "Always"])
  .describe("Whether an object that is there already is taken over.");
const onImmutable = z
  .enum(["Fail", "Recreate"])
  .describe("What to do when a change needs a field that cannot be changed.");
const ignorePaths = atomicList(z.string().max(512).regex(/^\//))
  .max(50)
  .describe("JSON pointers set at creation, then left to others.");
const disallowedManagers = atomicList(z.string().min(1).max(128))
  .max(50)
  .describe("Field managers whose additions Strict removes.");
const protectData = z
  .boolean()
  .describe(
    "Never delete a CRD that still has objects of others, a Namespace with foreign objects, or a PersistentVolumeClaim; they are orphaned and listed.",
  );

/** How a plan treats its objects, with the defaults of the plan. What decides whose objects it touches, and how, is fixed. */
export const planLifecycle = cel(
  z.strictObject({
    revert: revert.default("Owned"),
    recreate: recreate.default(true),
    cleanup: cleanup.default("Delete"),
    adoption: immutable(adoption).default("Never"),
    onImmutable: immutable(onImmutable).default("Fail"),
    ignorePaths: immutable(ignorePaths).optional(),
    disallowedManagers: disallowedManagers.default([
      "kubectl-edit",
      "kubectl-client-side-apply",
      "kubectl-patch",
      "kubectl-replace",
    ]),
    protectData: protectData.default(true),
  }),
  { rule: "has(self.ignorePaths) == has(oldSelf.ignorePaths)", message: "ignorePaths are immutable" },
);

/** The same for one resource: a field that is left out is the plan's. */
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
