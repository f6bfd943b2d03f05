import type { System } from "../system/system.ts";

/** The release sites as one run sees them: each is knocked at once, and one that does not answer is left alone after that. */
export class ReleaseSites {
  readonly #knocks = new Map<string, Promise<string | undefined>>();
  readonly #offline: boolean;

  constructor(system: System) {
    this.#offline = !["", "0", "false"].includes(system.env["QM_ASSETS_OFFLINE"] ?? "");
  }

  /** Why nothing can be fetched from the site of this address; undefined when it answers. */
  async faultOf(url: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#offline) return "QM_ASSETS_OFFLINE is set";
    const { origin } = new URL(url);
    const knock = this.#knocks.get(origin) ?? knockAt(origin, signal);
    this.#knocks.set(origin, knock);
    return await knock;
  }

  /** Gives the site up for the rest of the run. */
  giveUp(url: string, reason: string): void {
    this.#knocks.set(new URL(url).origin, Promise.resolve(reason));
  }
}

const KNOCK_TIMEOUT_MS = 3000;

async function knockAt(origin: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(KNOCK_TIMEOUT_MS)]);
    const answer = await fetch(origin, { method: "HEAD", redirect: "manual", signal: limit });
    await answer.body?.cancel();
    return undefined;
  } catch {
    // Refused, unknown or silent: any of them means that there is no way there, and which one helps nobody.
    signal.throwIfAborted();
    return `${new URL(origin).host} cannot be reached`;
  }
}
