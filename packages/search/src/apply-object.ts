import { ApiError, classify, ExternalError, type Kind } from "@quartermaster/runtime";

import type { PerformContext } from "./perform-context.ts";
import { searchReasons } from "./reasons.ts";
import type { ActionOf } from "./search-action.ts";

/** Applies an object of the cluster; one of another owner under its name is never taken over. */
export async function applyObject(
  { resource: kind, object }: ActionOf<"apply">,
  context: PerformContext,
): Promise<void> {
  const { ctx, cluster } = context;
  assertTime(context);
  const ref = { namespace: cluster.namespace, name: object.metadata.name };
  if (ctx.store(kind).get(ref) === undefined) {
    const found = await ctx.client.find(kind, ref, { isMetadataOnly: true });
    const owner = found?.metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (found !== undefined && owner?.uid !== cluster.uid) throw nameClash(kind, ref.name);
  }
  try {
    await ctx.apply(kind, object);
  } catch (error) {
    throw kind.kind === "StatefulSet" ? asTemplateProblem(error) : error;
  }
}

/** Longest time that one reconcile begins to write objects. A cluster of 64 pools has 200 of them, and others wait for a worker. */
const applyMs = 1_500;

/** Written objects are not written again, so the next reconcile continues where this one ends. */
function assertTime({ seen, nowMs }: PerformContext): void {
  if (seen === undefined || nowMs() - seen.readAtMs <= applyMs) return;
  const message = "apply: the other objects are written by the next reconcile";
  throw new ApiError(message, { class: "transient", mayHaveActed: false });
}

/** An object without our labels is not watched: that it was removed is seen when it is looked for again. */
export const nameRecheckMs = 30_000;

function nameClash(kind: Kind, name: string): ExternalError {
  return new ExternalError(
    `${kind.kind} ${name} exists and does not belong to this cluster. Remove it, or rename the cluster or the pool.`,
    { class: "invalid", reason: searchReasons.nameClash, retryAfterMs: nameRecheckMs },
  );
}

/** A StatefulSet that the server refuses: the author's pod fields are at fault, and the server says which. */
function asTemplateProblem(error: unknown): unknown {
  if (!(error instanceof ApiError) || classify(error) !== "invalid") return error;
  const problems = error.causes.map(({ field, message }) => `${field}: ${message}`).join("; ");
  return new ExternalError(`The pods cannot be made: ${problems || error.message}.`, {
    class: "invalid",
    reason: searchReasons.invalidPodTemplate,
    cause: error,
  });
}
