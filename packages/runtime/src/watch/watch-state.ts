import { ApiError } from "../errors.ts";
import { kindNotServed } from "../transport/response-error.ts";
import { unreachable } from "../unreachable.ts";
import { DecodeError } from "./decode-event.ts";

export type WatchState =
  /** Requests everything there is: by WatchList, or page by page where the server refuses that. */
  | "listing"
  /** Follows changes from the last resourceVersion. */
  | "watching"
  /** The kind is not served; waits for a call of `retryNow`, or tries again after a delay. */
  | "pending"
  /** Stopped by its owner. */
  | "stopped";

/** How an attempt at listing or watching came to its end. */
export type Ending =
  | { readonly kind: "listed" }
  /** The server ended the stream cleanly; `isEarly` when it had hardly begun. */
  | { readonly kind: "closed"; readonly isEarly: boolean }
  | { readonly kind: "idle" }
  | { readonly kind: "gone" }
  | { readonly kind: "versionTooLarge" }
  /** The server does not know initial events, or did not finish them. */
  | { readonly kind: "watchListRefused" }
  | { readonly kind: "notServed" }
  | { readonly kind: "undecodable" }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly error: unknown };

export interface Step {
  readonly state: WatchState;
  /** `relist` grows to 30 s, `reconnect` to 5 s: a new connection costs the server little, a list much. */
  readonly pause: "none" | "relist" | "reconnect" | "untilServed";
}

/** The transitions of the state machine. Pure, so that the whole table can be tested. */
export function nextStep(state: WatchState, ending: Ending): Step {
  switch (ending.kind) {
    case "listed":
      return { state: "watching", pause: "none" };
    case "closed":
      return { state, pause: state === "watching" ? pauseAfterClose(ending.isEarly) : "relist" };
    case "idle":
      return { state, pause: "none" };
    case "gone":
    case "versionTooLarge":
    case "undecodable":
      return { state: "listing", pause: "relist" };
    case "watchListRefused":
      return { state: "listing", pause: "none" };
    case "notServed":
      return { state: "pending", pause: "untilServed" };
    case "failed":
      return { state, pause: state === "watching" && hasNoResponse(ending.error) ? "reconnect" : "relist" };
    case "stopped":
      return { state: "stopped", pause: "none" };
    default:
      return unreachable(ending);
  }
}

export function endingOf(error: unknown, state: WatchState): Ending {
  if (error instanceof DecodeError || error instanceof RangeError) return { kind: "undecodable" };
  if (!(error instanceof ApiError)) return { kind: "failed", error };
  if (error.reason === "ResourceVersionTooLarge") return { kind: "versionTooLarge" };
  if (error.class === "gone") return { kind: "gone" };
  if (error.class === "notFound" && error.reason === kindNotServed) return { kind: "notServed" };
  if (error.class === "invalid" && state === "listing") return { kind: "watchListRefused" };
  return { kind: "failed", error };
}

/** A server that ends every stream immediately must not be queried without pause. */
function pauseAfterClose(isEarly: boolean): Step["pause"] {
  return isEarly ? "reconnect" : "none";
}

/** Whether no response came, as when there was no connection or it broke. */
export function hasNoResponse(error: unknown): boolean {
  return error instanceof ApiError && error.status === undefined;
}
