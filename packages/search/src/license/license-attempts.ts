import type { System } from "@quartermaster/runtime";

import type { EngineLicense } from "../engine/engine-facts.ts";

/** The last attempt of each cluster: carries the engine's response from a write to the next reconcile. */
export class LicenseAttempts {
  readonly #system: Pick<System, "wallMs" | "monotonicMs">;
  readonly #attempts = new Map<string, LicenseAttempt>();

  constructor(system: Pick<System, "wallMs" | "monotonicMs">) {
    this.#system = system;
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
  }

  forget(clusterUid: string): void {
    this.#attempts.delete(clusterUid);
  }
}

export interface LicenseResult {
  readonly uid: string;
  readonly digest: string;
  /** `failed`: nothing is known of the license itself, and it is tried again. */
  readonly outcome: "applied" | "rejected" | "failed";
  readonly reason: string;
  readonly message: string;
  /** License after it, where the engine reported it. */
  readonly current: EngineLicense | undefined;
}

/** The same with its moments. */
export interface LicenseAttempt extends LicenseResult {
  readonly wallMs: number;
  readonly monotonicMs: number;
}
