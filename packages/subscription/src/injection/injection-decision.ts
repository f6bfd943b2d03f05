import { type AdmissionDecision, type JsonPatchOperation, printable } from "@quartermaster/runtime";

import { type InjectionReason, type Problem, reasons } from "../reasons.ts";
import type { BundleKind } from "./injection-facts.ts";

export interface InjectionDecision {
  readonly result: "injected" | "skipped" | "rejected";
  readonly scope: InjectionScope;
  /** Why it was refused. */
  readonly reason: InjectionReason | "none";
  readonly admission: AdmissionDecision;
}

/** Whose bundles a decision is about. */
export type InjectionScope = BundleKind | "both" | "none";

/** Nothing is changed. */
export function skipped(warnings: readonly string[] = []): InjectionDecision {
  return { result: "skipped", scope: "none", reason: "none", admission: allowance([], warnings) };
}

/** The pod is changed; without operations it has everything already. */
export function injected(
  patch: readonly JsonPatchOperation[],
  { scope, warnings }: { readonly scope: InjectionScope; readonly warnings: readonly string[] },
): InjectionDecision {
  if (JSON.stringify(patch).length > patchLimitBytes)
    return rejected({
      reason: reasons.patchTooLarge,
      text: `the pod has too many containers for its bundles: the patch exceeds ${patchLimitBytes / 1024} KiB`,
    });
  return { result: "injected", scope, reason: "none", admission: allowance(patch, warnings) };
}

/** The pod is refused. A malformed annotation is a bad request, everything else is forbidden. */
export function rejected(
  { reason, text }: Problem,
  {
    scope = "none",
    field = "metadata.annotations",
  }: { readonly scope?: InjectionScope; readonly field?: string } = {},
): InjectionDecision {
  const isMalformed = reason === reasons.invalidAnnotation;
  const message = printable(text);
  const admission: AdmissionDecision = {
    kind: "deny",
    code: isMalformed ? 400 : 403,
    reason: isMalformed ? "BadRequest" : "Forbidden",
    message: `subscription injection: ${reason}: ${message}`,
    causes: [{ field, reason, message }],
  };
  return { result: "rejected", scope, reason, admission };
}

/** The API server stores an object of 1.5 MiB at most; a patch of this size is no pod of anybody's. */
const patchLimitBytes = 256 * 1024;

/** The API server cuts a warning at 256 characters, and drops all that come after 4096 in total. */
const [warningLength, warningLimit] = [120, 10];

function allowance(patch: readonly JsonPatchOperation[], given: readonly string[]): AdmissionDecision {
  const warnings = [...new Set(given)].slice(0, warningLimit).map(shortened);
  return {
    kind: "allow",
    ...(patch.length === 0 ? {} : { patch }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

function shortened(warning: string): string {
  const text = printable(warning);
  return text.length <= warningLength ? text : `${text.slice(0, warningLength - 1)}…`;
}
