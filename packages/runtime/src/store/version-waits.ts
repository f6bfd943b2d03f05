import { compareVersions } from "../object/kube-object.ts";
import { raceLimit } from "../system/finishes-within.ts";
import type { System } from "../system/system.ts";

interface Wait {
  readonly version: string;
  readonly resolve: () => void;
}

/** Those who wait for a store to reach a version. */
export class VersionWaits {
  readonly #system: System;
  readonly #waits = new Set<Wait>();

  constructor(system: System) {
    this.#system = system;
  }

  /** Lets those continue whose version has been reached. */
  reach(version: string): void {
    for (const wait of this.#waits) if (compareVersions(wait.version, version) <= 0) wait.resolve();
  }

  async until(version: string, timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wait = {
      version,
      resolve: () => {
        resolve(undefined);
      },
    };
    this.#waits.add(wait);
    try {
      await raceLimit(promise, { system: this.#system, limitMs: timeoutMs }, () => {
        throw new DOMException(`version ${version} was not seen within ${timeoutMs} ms`, "TimeoutError");
      });
    } finally {
      this.#waits.delete(wait);
    }
  }
}
