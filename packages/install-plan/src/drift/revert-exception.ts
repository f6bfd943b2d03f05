import type { KubeObject } from "@quartermaster/runtime";

/**
 * An exception from drift repair on a live object: the annotation `install.quartermaster.dev/revert: "Off"`, with an end in
 * `install.quartermaster.dev/revert-until` if it has one. Every client that may change the object may set it; the plan reports it.
 */
export type RevertException =
  | { readonly kind: "active"; readonly untilMs?: number | undefined }
  /** An annotation that cannot be read has no effect: the lifecycle policy of the plan holds. */
  | { readonly kind: "invalid"; readonly message: string };

const revertAnnotation = "install.quartermaster.dev/revert";
const untilAnnotation = "install.quartermaster.dev/revert-until";

/** Undefined without the annotation, and after its end. `wallMs` is the wall clock. */
export function revertException({ metadata }: KubeObject, wallMs: number): RevertException | undefined {
  const { [revertAnnotation]: value, [untilAnnotation]: until } = metadata.annotations ?? {};
  if (value === undefined) return undefined;
  if (value !== "Off") return { kind: "invalid", message: `annotation ${revertAnnotation} must be "Off"` };
  if (until === undefined) return { kind: "active" };
  const untilMs = rfc3339.test(until) ? Date.parse(until) : Number.NaN;
  if (Number.isNaN(untilMs))
    return {
      kind: "invalid",
      message: `annotation ${untilAnnotation} must be a time such as 2026-12-31T18:00:00Z`,
    };
  return untilMs > wallMs ? { kind: "active", untilMs } : undefined;
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** What the exception means for an object, for users; goes behind the name of the object. */
export function exceptionText(exception: RevertException): string {
  if (exception.kind === "invalid") return `${exception.message}; it has no effect`;
  const { untilMs } = exception;
  const end = untilMs === undefined ? "" : ` until ${new Date(untilMs).toISOString().replace(".000", "")}`;
  return `annotation ${revertAnnotation} keeps it from being reverted${end}`;
}
