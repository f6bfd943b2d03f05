import { type Context, digestOf, type Live } from "@quartermaster/runtime";
import { type Secret, secrets } from "@quartermaster/runtime/kinds";

import { secretText } from "../secret-text.ts";

/** The Secrets that the spec names; what they lack is collected. */
export class UserSecrets {
  readonly #ctx: Context;
  readonly missing: string[] = [];

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** Values of these keys; undefined, and noted as missing, unless all are there. */
  read(name: string, keys: readonly string[]): readonly string[] | undefined {
    const live = this.#ctx.follow(secrets, { name });
    const values = keys.map((key) => secretText(live, key));
    const lacking = keys.filter((_key, at) => values[at] === undefined);
    if (lacking.length === 0) return values.map((value) => value ?? "");
    this.missing.push(live === undefined ? `Secret ${name}` : `key ${lacking.join(", ")} of Secret ${name}`);
    return undefined;
  }

  live(name: string): Live<Secret> | undefined {
    return this.#ctx.follow(secrets, { name });
  }

  /** A value that need not be there. */
  optional(name: string, key: string): string | undefined {
    return secretText(this.#ctx.follow(secrets, { name }), key);
  }

  digest(name: string): string {
    const live = this.#ctx.follow(secrets, { name });
    if (live === undefined) this.missing.push(`Secret ${name}`);
    return live === undefined ? "" : digestOf(live.data ?? {});
  }
}
