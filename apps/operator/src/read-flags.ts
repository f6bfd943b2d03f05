import { parseArgs } from "node:util";

import { SettingsError } from "./settings-error.ts";

/** Flags that may stand alone. */
const switches: ReadonlySet<string> = new Set(["--insecure-skip-tls-verify", "--require-author"]);

/** What was given. */
export interface Flags {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly isHelpWanted: boolean;
}

/** Reads flags of these names, and `--help`. Throws a SettingsError for others. */
export function readFlags(args: readonly string[], names: readonly string[]): Flags {
  const known = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  try {
    const { values } = parseArgs({
      args: args.map((word) => (switches.has(word) ? `${word}=true` : word)),
      options: { ...known, help: { type: "boolean", short: "h" } },
    });
    const { help = false, ...texts } = values;
    return { values: texts, isHelpWanted: help };
  } catch (error) {
    throw new SettingsError(error instanceof Error ? error.message : "unreadable flags", { cause: error });
  }
}
