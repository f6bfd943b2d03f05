import { parseArgs } from "node:util";

import { z } from "zod";

import { type FlagValue, trueOrFalse } from "./flag-value.ts";

/** One flag. Its default, if the schema has one, is shown after `help`. */
export interface Flag {
  readonly flag: string;
  /** Environment variable that sets it where the flag is absent. */
  readonly env: string;
  readonly help: string;
  readonly schema: FlagValue;
}

/** A row of the table. The variable has the flag's name: `QM_METRICS_PORT` for `--metrics-port`. */
export function flagRow<S extends FlagValue>(
  name: string,
  help: string,
  schema: S,
): Flag & { readonly schema: S } {
  return { flag: name, env: `QM_${name.toUpperCase().replaceAll("-", "_")}`, help, schema };
}

/** Flags in groups, each by the name of the option that it sets. */
export type FlagTable = Readonly<Record<string, Readonly<Record<string, Flag>>>>;

/** Values of the flags, in the same groups. */
export type FlagValues<T extends FlagTable> = {
  readonly [G in keyof T]: Readonly<z.output<z.ZodObject<{ [K in keyof T[G]]: T[G][K]["schema"] }>>>;
};

/** A flag or variable that cannot be used, with what would do. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly code = "invalidSettings";
}

/** Command line and environment variables. */
export interface FlagSources {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Reads flags and environment by the table, and `--help`. Throws SettingsError that names every invalid flag. */
export function readFlags<T extends FlagTable>(
  table: T,
  { args, env }: FlagSources,
): { readonly values: FlagValues<T>; readonly isHelpWanted: boolean } {
  const { help, ...flags } = parsedArgs(table, args);
  const schema = z.object(mapped(table, (group) => z.object(mapped(group, (row) => row.schema))));
  const given = (row: Flag): unknown => givenText(row, flags[row.flag], env[row.env]);
  const result = schema.safeParse(mapped(table, (group) => mapped(group, given)));
  if (!result.success)
    throw new SettingsError(result.error.issues.map((issue) => messageOf(table, issue)).join("; "));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema is made from the table
  return { values: result.data as FlagValues<T>, isHelpWanted: help === true };
}

/** A variable that is set to nothing, as manifests do, is not set. An empty flag overrides it: text that is empty means none. */
function givenText({ schema }: Flag, flag: unknown, variable: string | undefined): unknown {
  if (flag === undefined) return variable === "" ? undefined : variable;
  return flag === "" && schema.safeParse("").success ? undefined : flag;
}

function messageOf(table: FlagTable, { path, message }: z.core.$ZodIssue): string {
  const [group, name, ...rest] = path.map(String);
  const flag = table[group ?? ""]?.[name ?? ""]?.flag ?? "";
  return `--${[flag, ...rest].join(".")}: ${message}`;
}

function parsedArgs(table: FlagTable, args: readonly string[]): Readonly<Record<string, unknown>> {
  const rows = rowsOf(table);
  const switches = new Set(
    rows.filter(({ schema }) => schema === trueOrFalse).map(({ flag }) => `--${flag}`),
  );
  const options = Object.fromEntries(rows.map(({ flag }) => [flag, { type: "string" as const }]));
  try {
    return parseArgs({
      args: args.map((arg) => (switches.has(arg) ? `${arg}=true` : arg)),
      options: { ...options, help: { type: "boolean", short: "h" } },
    }).values;
  } catch (error) {
    throw new SettingsError(error instanceof Error ? error.message : "unreadable flags", { cause: error });
  }
}

/** The text of `--help`. */
export function helpText(program: string, table: FlagTable): string {
  const lines = rowsOf(table).map(
    (row) => `  --${row.flag.padEnd(24)} ${row.env.padEnd(27)} ${helpWithDefault(row)}`,
  );
  return [`Usage: ${program} [flags]`, "", ...lines, ""].join("\n");
}

/** The same as a table of a reference page. */
export function markdownTable(table: FlagTable): string {
  const lines = rowsOf(table).map(
    (row) => `| \`--${row.flag}\` | \`${row.env}\` | ${helpWithDefault(row)} |`,
  );
  return ["| flag | environment | meaning |", "|---|---|---|", ...lines, ""].join("\n");
}

function helpWithDefault({ help, schema }: Flag): string {
  const { data } = schema.safeParse(undefined);
  return data === undefined ? help : `${help} (default: ${texts.parse([data].flat()).join(",")})`;
}

const texts = z.array(z.coerce.string());

function rowsOf(table: FlagTable): readonly Flag[] {
  return Object.values(table).flatMap((group) => Object.values(group));
}

/** The same keys with other values; those without a value are left out. */
function mapped<V, W>(record: Readonly<Record<string, V>>, map: (value: V) => W): Record<string, W> {
  const entries = Object.entries(record).map(([key, value]): [string, W] => [key, map(value)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
