/** One write, in the order in which it was sent. */
export interface ReconcileWrite {
  readonly verb: "create" | "apply" | "patch" | "delete" | "engine";
  /** Kind of the object, or name of the call to another system. */
  readonly kind: string;
  readonly name: string;
  /** Preconditions that the write carries. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** `delete Secret team/ca (uid, resourceVersion)`: verb, object and the preconditions that it carries. */
export function textOfWrite({ verb, kind, name, uid, resourceVersion }: ReconcileWrite): string {
  const carried = [
    ...(uid === undefined ? [] : ["uid"]),
    ...(resourceVersion === undefined ? [] : ["resourceVersion"]),
  ];
  const end = carried.length === 0 ? "" : ` (${carried.join(", ")})`;
  return `${verb} ${kind} ${name}`.trimEnd() + end;
}

/** Called around each write, with its number. */
export interface WriteHooks {
  /** Before it takes effect: another client may act here, or the write fails by what is thrown. */
  readonly before?: (write: ReconcileWrite, at: number) => void;
  /** After it took effect: what is thrown is a response that is lost. */
  readonly after?: (write: ReconcileWrite, at: number) => void;
}
