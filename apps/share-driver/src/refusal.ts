import { status } from "@grpc/grpc-js";

/** Why a volume was not published, as metrics count it. */
export const refusalReasons = [
  "InvalidRequest",
  "Forbidden",
  "ShareNotFound",
  "BackingObjectNotFound",
  "KeyConflict",
  "TooLarge",
  "TooManyObjects",
  "TooManyVolumes",
  "DriverForbidden",
  "Unavailable",
  "MountFailed",
  "Internal",
] as const;

/** One of the reasons. */
export type RefusalReason = (typeof refusalReasons)[number];

const codes: Readonly<Record<RefusalReason, status>> = {
  InvalidRequest: status.INVALID_ARGUMENT,
  Forbidden: status.PERMISSION_DENIED,
  ShareNotFound: status.NOT_FOUND,
  BackingObjectNotFound: status.NOT_FOUND,
  KeyConflict: status.FAILED_PRECONDITION,
  TooLarge: status.FAILED_PRECONDITION,
  TooManyObjects: status.RESOURCE_EXHAUSTED,
  TooManyVolumes: status.RESOURCE_EXHAUSTED,
  DriverForbidden: status.FAILED_PRECONDITION,
  Unavailable: status.UNAVAILABLE,
  MountFailed: status.INTERNAL,
  Internal: status.INTERNAL,
};

/**
 * A request of kubelet that is not carried out. The message becomes an event of the pod: its reader may be anybody who can see
 * the pod, so it names the Share and the account, never the object behind the Share, and no value.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly reason: RefusalReason;
  /** Of gRPC. */
  readonly code: status;

  constructor(reason: RefusalReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.code = codes[reason];
  }
}
