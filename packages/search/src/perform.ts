import { applyObject } from "./apply-object.ts";
import { growClaim } from "./autoscaling/volume-growth.ts";
import { keepSettings } from "./cluster-settings/keep-settings.ts";
import { deleteChild, pruneChild } from "./deletion/delete-object.ts";
import { inheritObject } from "./handover/inherit-object.ts";
import { performLicense } from "./license/perform-license.ts";
import { materialHandlers } from "./material/material-handlers.ts";
import { annotatePod } from "./node-attributes/annotate-pod.ts";
import { operationHandlers } from "./nodes/operation-handlers.ts";
import { ownerHandlers } from "./owner-handlers.ts";
import type { ActionHandlers, ActionsByKind, PerformContext } from "./perform-context.ts";
import { keepRepositories } from "./repositories/keep-repositories.ts";
import type { SearchAction } from "./search-action.ts";
import { securityHandlers } from "./security-content/security-handlers.ts";

/** How each action is carried out. */
const handlers: ActionHandlers = {
  ...materialHandlers,
  ...operationHandlers,
  ...ownerHandlers,
  ...securityHandlers,
  annotatePod,
  apply: applyObject,
  delete: deleteChild,
  prune: pruneChild,
  growClaim,
  inherit: inheritObject,
  keepRepositories,
  keepSettings,
  putLicense: performLicense,
  startLicense: performLicense,
  record: ({ event }, { ctx, observer }) => {
    ctx.events.record(event);
    observer.eventRecorded?.(event);
  },
};

/** One write. */
export async function perform(action: SearchAction, context: PerformContext): Promise<void> {
  await performAs(action.kind, action, context);
}

/** The same, in the form by which the type checker sees that the handler is that of the action. */
async function performAs<Kind extends SearchAction["kind"]>(
  kind: Kind,
  action: ActionsByKind[Kind],
  context: PerformContext,
): Promise<void> {
  await handlers[kind](action, context);
}
