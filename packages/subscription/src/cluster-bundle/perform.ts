import { type Context, type KubeObject, unreachable } from "@quartermaster/runtime";
import { clusterRoles } from "@quartermaster/runtime/kinds";

import { performAccess } from "../object-access/perform-access.ts";
import type { ClusterBundleAction } from "./rules.ts";
import { describeShare } from "./share-profile.ts";

/** Carries out one action. Reports an event only if something was written. */
export async function perform(action: ClusterBundleAction, ctx: Context): Promise<void> {
  switch (action.kind) {
    case "applyShare": {
      const { share, desired } = action;
      const { name } = desired.metadata;
      const before = ctx.store(share).get({ name });
      const after = await ctx.apply(share, desired);
      report(ctx, { what: describeShare(share, name), noun: "Share", before, after });
      return;
    }
    case "deleteShare":
      await deleteShare(action, ctx);
      return;
    case "applyRole": {
      const { name } = action.desired.metadata;
      const before = ctx.store(clusterRoles).get({ name });
      const after = await ctx.apply(clusterRoles, action.desired);
      report(ctx, { what: `ClusterRole "${name}"`, noun: "ClusterRole", before, after });
      return;
    }
    case "cutRole": {
      const { name, body } = action;
      await ctx.client.patch(clusterRoles, { name }, { patch: { kind: "merge", body } });
      return;
    }
    case "applyAccess":
    case "deleteAccess":
      await performAccess(action, ctx);
      return;
    default:
      return unreachable(action);
  }
}

async function deleteShare(
  { share: { kind, name, uid, resourceVersion } }: Extract<ClusterBundleAction, { kind: "deleteShare" }>,
  ctx: Context,
): Promise<void> {
  const options = { preconditions: { uid, resourceVersion } };
  if (!(await ctx.client.deleteIfPresent(kind, { name }, options))) return;
  const note = `Deleted ${describeShare(kind, name)}, which the bundle no longer needs.`;
  ctx.events.record({ type: "Normal", reason: "ShareDeleted", action: "DeleteShare", note });
}

interface Written {
  readonly what: string;
  readonly noun: "Share" | "ClusterRole";
  readonly before: KubeObject | undefined;
  readonly after: KubeObject;
}

function report(ctx: Context, { what, noun, before, after }: Written): void {
  if (before?.metadata.resourceVersion === after.metadata.resourceVersion) return;
  const isNew = before === undefined;
  ctx.events.record({
    type: "Normal",
    reason: `${noun}${isNew ? "Created" : "Updated"}`,
    action: `Apply${noun}`,
    note: `${isNew ? "Created" : "Updated"} ${what}.`,
  });
}
