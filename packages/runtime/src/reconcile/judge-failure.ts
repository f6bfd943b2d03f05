import { ApiError, classify, ExternalError } from "../errors.ts";
import { reasons } from "../reasons.ts";
import { unreachable } from "../unreachable.ts";
import { type Outcome, stalled, waiting, type Why } from "./outcome.ts";

export interface Judgement {
  /** `backOff`: come back after a growing delay. `stay`: only a change of the spec can help, or what the outcome waits for. */
  readonly next: "backOff" | "stay";
  /** The outcome for users; undefined when the failure is expected to pass on its own. */
  readonly shown?: Outcome;
  /** Not before; what the server requested. */
  readonly atLeastMs: number;
  /** A fault of ours: wants a stack in the log. */
  readonly isBug: boolean;
}

/** Decides what an error means. Conflicts and passing trouble stay quiet; what a user must know becomes a condition. */
export function judgeFailure(error: unknown): Judgement {
  const atLeastMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  const quiet: Judgement = { next: "backOff", atLeastMs, isBug: false };
  const own = error instanceof ExternalError ? error.reason : undefined;
  const shownAs = (reason: string): Judgement => ({
    ...quiet,
    shown: waiting(whyOf(error, own ?? reason), atLeastMs),
  });
  const stays = (reason: string): Judgement => ({
    ...quiet,
    next: "stay",
    shown: stalled(
      whyOf(error, own ?? reason),
      error instanceof ExternalError ? error.retryAfterMs : undefined,
    ),
  });
  const errorClass = classify(error);
  switch (errorClass) {
    case "conflict": {
      const reason = conflictReason(error);
      return reason === undefined ? quiet : shownAs(reason);
    }
    case "alreadyExists":
    case "gone":
    case "tooManyRequests":
    case "transient":
    case "timeout":
    case "unauthorized":
    case "aborted":
      return quiet;
    case "notFound":
      return shownAs(reasons.notFound);
    case "forbidden":
      return shownAs(reasons.forbidden);
    case "invalid":
      return stays(reasons.rejected);
    case "tooLarge":
      return stays(reasons.tooLarge);
    case "bug":
      return { ...shownAs(reasons.internalError), isBug: true };
    default:
      return unreachable(errorClass);
  }
}

/** Why a conflict will not pass on its own: the object, or a field of it, has another owner. Undefined for a stale version. */
function conflictReason(error: unknown): string | undefined {
  const causes = error instanceof ApiError ? error.causes.map(({ reason }) => reason) : [];
  if (causes.includes(reasons.nameTaken)) return reasons.nameTaken;
  return causes.includes("FieldManagerConflict") ? reasons.fieldConflict : undefined;
}

const internalMessage =
  "A fault of the operator keeps this object from being reconciled; its log has the details.";

/** An ApiError's message names verb and object and holds no secret, an ExternalError's is meant for users; of others nothing is shown. */
function whyOf(error: unknown, reason: string): Why {
  if (error instanceof ExternalError) return { reason, message: error.message };
  if (!(error instanceof ApiError)) return { reason, message: internalMessage };
  return { reason, message: `${error.class === "invalid" ? withoutValues(error) : error.message}.` };
}

/**
 * Which fields of a refused object are wrong, and what they should be. The values that the server quotes are left out, as in
 * the log: what a controller writes is often made from a Secret, and more people may read a status.
 */
function withoutValues({ message, causes }: ApiError): string {
  if (causes.length === 0) return message.replace(/["'`].*["'`]/s, '"…"');
  const [ours = "refused"] = /^.*?: \d{3}(?= |$)/s.exec(message) ?? [];
  const problems = causes.map((cause) => `${cause.field}: ${withoutValue(cause.message) || cause.reason}`);
  return `${ours} ${problems.join("; ")}`.slice(0, 1_024);
}

const quotingValue =
  /^(?<what>(?:Invalid|Unsupported|Duplicate) value): (?:"(?:[^"\\]|\\.)*"|[-\w.]+)(?<rest>: .*|)$/s;

/** A value that is a list or a map has no end that could be found: then only what kind of fault it is remains. */
function withoutValue(message: string): string {
  const groups = quotingValue.exec(message)?.groups;
  if (groups !== undefined) return `${groups["what"] ?? ""}${groups["rest"] ?? ""}`;
  return message.replace(/^((?:Invalid|Unsupported|Duplicate) value):.*$/s, "$1");
}
