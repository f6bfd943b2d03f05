import type { System } from "@quartermaster/runtime";

import type { LicenseAttempt, LicenseResult } from "./license-seen.ts";

/** The last attempt of each cluster: carries what the engine said from a write to the next look. */
export class LicenseAttempts {
  readonly #system: Pick<System, "wallMs" | "monotonicMs">;
  readonly #onResult: (outcome: LicenseResult["outcome"]) => void;
  readonly #attempts = new Map<string, LicenseAttempt>();

  /** `onResult` is called with the outcome of each attempt. */
  constructor(
    system: Pick<System, "wallMs" | "monotonicMs">,
    onResult: (outcome: LicenseResult["outcome"]) => void = () => undefined,
  ) {
    this.#system = system;
    this.#onResult = onResult;
  }

  of(clusterUid: string): LicenseAttempt | undefined {
    return this.#attempts.get(clusterUid);
  }

  record(clusterUid: string, result: LicenseResult): void {
    const { wallMs, monotonicMs } = {
      wallMs: this.#system.wallMs(),
      monotonicMs: this.#system.monotonicMs(),
    };
    this.#attempts.set(clusterUid, { ...result, wallMs, monotonicMs });
    this.#onResult(result.outcome);
  }

  forget(clusterUid: string): void {
    this.#attempts.delete(clusterUid);
  }
}
