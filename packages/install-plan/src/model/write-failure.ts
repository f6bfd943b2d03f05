import type { ApiError, ErrorClass } from "@quartermaster/runtime";

import type { PlanAction } from "../plan-action.ts";
import { reasons } from "../reasons.ts";
import { describeCauses } from "./describe-causes.ts";
import { describeIdentity, type Identity } from "./identity.ts";

/** Why the last write of an object did not succeed. */
export interface WriteFailure {
  /** The failed action. */
  readonly action: PlanAction["kind"];
  /** Which object was to be deleted or released. */
  readonly uid?: string | undefined;
  readonly kind: "transient" | "forbidden" | "rejected" | "collision";
  /** CamelCase, from the domain's closed list. */
  readonly reason: string;
  readonly message: string;
  /** How often in a row, for the back-off. */
  readonly count: number;
  /** By the monotonic clock. */
  readonly notBeforeMs: number;
  /** When it was met last, by the monotonic clock. */
  readonly triedAtMs: number;
}

export function writeFailureFrom(
  error: ApiError,
  { identity, count, nowMs }: { readonly identity: Identity; readonly count: number; readonly nowMs: number },
): Omit<WriteFailure, "action"> {
  const name = describeIdentity(identity);
  const output = refusalText(error);
  const lasting = (kind: WriteFailure["kind"], reason: string): Omit<WriteFailure, "action"> => ({
    kind,
    reason,
    message: `${name} was rejected: ${output}`,
    count,
    notBeforeMs: nowMs + delayFor(error.class, count),
    triedAtMs: nowMs,
  });
  if (error.class === "forbidden") return lasting("forbidden", reasons.forbidden);
  if (error.class === "invalid" || error.class === "tooLarge") return lasting("rejected", reasons.rejected);
  const delayMs = Math.max(error.retryAfterMs ?? 0, delayFor(error.class, count));
  return {
    kind: "transient",
    reason: reasons.retrying,
    message: `${name}: ${output}`,
    count,
    notBeforeMs: nowMs + delayMs,
    triedAtMs: nowMs,
  };
}

const shortestMs = 1_000;
const longestMs = 60_000;

/** A conflict is settled by the next reconcile; everything else is given time. */
function delayFor(errorClass: ApiError["class"], count: number): number {
  if (errorClass === "conflict" && count <= 5) return 50;
  return Math.min(longestMs, shortestMs * 2 ** Math.min(count - 1, 6));
}

/**
 * Problems of an object by the server's list; otherwise its message, without the verb and path that the client
 * puts before it. Of messages about Secrets the transport keeps only fields and reasons.
 */
export function refusalText(error: ApiError): string {
  return describeCauses(error) ?? error.message.replace(/^[^:]*: \d+ /, "");
}

/** Whether a retry would get the same response until something changes. */
export function isLasting(errorClass: ErrorClass): boolean {
  return errorClass === "forbidden" || errorClass === "invalid" || errorClass === "tooLarge";
}

/** An object created by another client has a name that is reserved for one of ours. */
export class NameTakenError extends Error {
  override readonly name = "NameTakenError";
  readonly code = "nameTaken";
}
