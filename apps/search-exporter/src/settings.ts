import { isAbsolute } from "node:path";
import { parseArgs } from "node:util";

import { exporterDirectories, exporterPort } from "@quartermaster/search/exporter";

/** The exporter's settings. Everything about the engine is in files, which may change while it runs. */
export interface Settings {
  /** Serves /metrics, /healthz and /readyz; 0 takes any free port. */
  readonly port: number;
  /** Directory of `config.json`. */
  readonly configDirectory: string;
  /** Directory of `ca.crt`. */
  readonly trustDirectory: string;
  /** Directory of `username` and `password`. */
  readonly loginDirectory: string;
}

/** A flag that cannot be used, with what would do. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly code = "invalidSettings";
}

/** Reads the flags. Throws a SettingsError. */
export function readSettings(args: readonly string[]): Settings {
  const given = flagsOf(args);
  const directory = (flag: "config" | "trust" | "login"): string => {
    const path = given[flag] ?? exporterDirectories[flag];
    if (!isAbsolute(path)) throw new SettingsError(`--${flag}: not an absolute path`);
    return path;
  };
  return {
    port: portOf(given.port),
    configDirectory: directory("config"),
    trustDirectory: directory("trust"),
    loginDirectory: directory("login"),
  };
}

function portOf(text: string | undefined): number {
  if (text === undefined) return exporterPort;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new SettingsError("--port: not a port number");
  return Number(text);
}

const options = {
  port: { type: "string" },
  config: { type: "string" },
  trust: { type: "string" },
  login: { type: "string" },
} as const;

function flagsOf(args: readonly string[]): Partial<Record<keyof typeof options, string>> {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new SettingsError(error instanceof Error ? error.message : "unknown flag", { cause: error });
  }
}
