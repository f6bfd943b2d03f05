import { inject } from "vitest";

/** True where the machine can run real nodes; end-to-end tests are skipped elsewhere, and the set-up has said why. */
export function hasRealNodes(): boolean {
  return inject("realNodesMissing") === undefined;
}
