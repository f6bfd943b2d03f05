import { parseArgs } from "node:util";

import { usageError } from "../errors.ts";
import type { OutputFormat } from "../output/print.ts";

/** One option of a command, with what it is for. */
export interface OptionSpec {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  readonly describe: string;
}

/** Options by their long name. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export interface Invocation {
  readonly positionals: readonly string[];
  readonly format: OutputFormat;
  text(option: string): string | undefined;
  flag(option: string): boolean;
  list(option: string): readonly string[];
}

/** Options that every command has. */
export const commonOptions: OptionSpecs = {
  output: { type: "string", short: "o", describe: "output format: text, json or yaml (default: text)" },
  help: { type: "boolean", short: "h", describe: "show help for the command" },
};

/** Options of commands that speak to a cluster. */
export const clusterOptions: OptionSpecs = {
  namespace: {
    type: "string",
    short: "n",
    describe: "namespace of the plan (default: the namespace of the context)",
  },
  kubeconfig: { type: "string", describe: "path to the kubeconfig file (default: same as kubectl)" },
  context: { type: "string", describe: "kubeconfig context (default: the current context)" },
  "insecure-skip-tls-verify": {
    type: "boolean",
    describe: "do not verify the certificate of the API server (default: false)",
  },
};

/** Reads the words of the command line; throws a usage error that says what is wrong. */
export function parseInvocation(args: readonly string[], options: OptionSpecs): Invocation {
  const { positionals, values } = parseWords(args, { ...commonOptions, ...options });
  return {
    positionals,
    // A command with an `output` of its own reads it itself.
    format: "output" in options ? "text" : formatOf(values["output"]),
    text: (option) => textOf(values[option]),
    flag: (option) => values[option] === true,
    list: (option) => listOf(values[option]),
  };
}

type Values = Readonly<Record<string, unknown>>;

function parseWords(
  args: readonly string[],
  options: OptionSpecs,
): { readonly positionals: readonly string[]; readonly values: Values } {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    if (error instanceof TypeError) throw usageError(error.message);
    throw error;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function formatOf(value: unknown): OutputFormat {
  if (value === undefined) return "text";
  if (value === "text" || value === "json" || value === "yaml") return value;
  throw usageError("--output must be text, json or yaml");
}

/** The one thing the command is about; throws a usage error when it is missing or there are more. */
export function onlyPositional({ positionals }: Invocation, what: string): string {
  const [first, ...others] = positionals;
  if (first === undefined) throw usageError(`required argument <${what}> not set`);
  if (others.length > 0) throw usageError(`only one ${what} is allowed; unexpected ${others.join(" ")}`);
  return first;
}

/** The flag `--timeout` in milliseconds. */
export function timeoutMs(invocation: Invocation, byDefault: number): number {
  const seconds = invocation.text("timeout");
  if (seconds === undefined) return byDefault;
  if (!/^\d{1,6}$/.test(seconds)) throw usageError("--timeout must be a number of seconds");
  return Number(seconds) * 1_000;
}

/** Options of commands about search clusters. */
export const searchOptions: OptionSpecs = {
  ...clusterOptions,
  namespace: {
    type: "string",
    short: "n",
    describe: "namespace of the search cluster (default: the namespace of the context)",
  },
};
