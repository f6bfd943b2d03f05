import type { System } from "@quartermaster/runtime";
import { hash } from "bcryptjs";

/** A password whose hash is needed. */
export interface HashRequest {
  /** Whose turn it is: namespaces take turns. */
  readonly namespace: string;
  /** The account, e.g. uid of the cluster and user name. A newer password takes the place of one that waits. */
  readonly account: string;
  /** Version of the password. */
  readonly version: string;
  readonly password: string;
  /** Called when the hash can be taken. */
  readonly onReady: () => void;
}

/** How the hasher works. */
export interface PasswordHasherOptions {
  readonly system: Pick<System, "monotonicMs" | "sleep">;
  /** Work of one hash, as an exponent of two (default: 12, as the engine's own tool). */
  readonly rounds?: number | undefined;
}

/** A hash that nothing has taken for so long belongs to a cluster that is deleted. */
const keptMs = 10 * 60_000;

/**
 * Hashes passwords beside the reconciles. A hash takes a third of a second of CPU time, and a tenant who edits Secrets decides how many are
 * needed: so there is one at a time, namespaces take turns, each account waits once, and two thirds of the time belong to others.
 *
 * @example
 * const made = hasher.take({ namespace, account, version, password, onReady }); // undefined: onReady is called when it is made
 */
export class PasswordHasher {
  readonly #options: PasswordHasherOptions;
  /** By namespace, the next one first; of each its accounts. */
  readonly #waiting = new Map<string, Map<string, HashRequest>>();
  readonly #made = new Map<
    string,
    { readonly version: string; readonly hash: string; readonly atMs: number }
  >();
  #current: HashRequest | undefined;
  #isRunning = false;

  constructor(options: PasswordHasherOptions) {
    this.#options = options;
  }

  /** The hash, once it is made; before that it is put in line. Each hash is given out once. */
  take(request: HashRequest): string | undefined {
    const { namespace, account, version } = request;
    const made = this.#made.get(account);
    this.#made.delete(account);
    if (made?.version === version) return made.hash;
    if (this.#current?.account === account && this.#current.version === version) return undefined;
    const accounts = this.#waiting.get(namespace) ?? new Map<string, HashRequest>();
    accounts.set(account, request);
    this.#waiting.set(namespace, accounts);
    if (!this.#isRunning) void this.#run();
    return undefined;
  }

  async #run(): Promise<void> {
    const { system, rounds = 12 } = this.#options;
    this.#isRunning = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#current = next;
      const beganMs = system.monotonicMs();
      const made = await hash(next.password, rounds);
      this.#current = undefined;
      const atMs = system.monotonicMs();
      this.#forgetBefore(atMs - keptMs);
      this.#made.set(next.account, { version: next.version, hash: made, atMs });
      next.onReady();
      if (this.#waiting.size > 0) await system.sleep(2 * (atMs - beganMs));
    }
    this.#isRunning = false;
  }

  /** The oldest of the namespace whose turn it is, which then goes to the end of the line. */
  #next(): HashRequest | undefined {
    const [turn] = this.#waiting;
    if (turn === undefined) return undefined;
    const [namespace, accounts] = turn;
    const [first] = accounts;
    this.#waiting.delete(namespace);
    if (first === undefined) return this.#next();
    accounts.delete(first[0]);
    if (accounts.size > 0) this.#waiting.set(namespace, accounts);
    return first[1];
  }

  #forgetBefore(ms: number): void {
    for (const [account, { atMs }] of this.#made) if (atMs < ms) this.#made.delete(account);
  }
}
