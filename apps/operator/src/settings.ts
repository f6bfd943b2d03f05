import { parseArgs } from "node:util";

import { z } from "zod";

/** The operator's settings. docs/reference/operator.md lists flags and environment. */
export interface Settings {
  /** Default: as kubectl finds it. */
  readonly kubeconfigPath?: string;
  readonly context?: string;
  /** Any certificate of the API server will do. */
  readonly insecureSkipTlsVerify: boolean;
  /** Only plans of this namespace (default: all). */
  readonly watchNamespace?: string;
  /** Serves /metrics, /healthz and /readyz; 0 takes any free port. */
  readonly metricsPort: number;
  /** Default: all addresses, IPv6 included. */
  readonly metricsHost?: string;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  /** Namespace of the lease; undefined where this replica is the only one. */
  readonly leaseNamespace?: string;
  readonly identity?: string;
  /** Parts of the suite that run. */
  readonly domains: readonly DomainName[];
  /** Plans worked on at the same time. */
  readonly concurrency: number;
  /** Nothing is done for plans whose author is not recorded. */
  readonly requireAuthor: boolean;
  readonly isHelpWanted: boolean;
}

const domainNames = ["install-plan"] as const;

/** A part of the suite, as `--domains` names it. */
export type DomainName = (typeof domainNames)[number];

/** A flag or variable that cannot be used, with what would do. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly code = "invalidSettings";
}

/** Each flag with the variable that replaces it. Flags win. */
const options = {
  domains: {
    variable: "QM_DOMAINS",
    about: `parts of the suite that run, separated by commas: ${domainNames.join(", ")} (default: all)`,
  },
  kubeconfig: {
    variable: "QM_KUBECONFIG",
    about: "file with the cluster's address (default: as kubectl finds it)",
  },
  context: { variable: "QM_CONTEXT", about: "context of the kubeconfig (default: the current one)" },
  "insecure-skip-tls-verify": {
    variable: "QM_INSECURE_SKIP_TLS_VERIFY",
    about: "true or false: accept any certificate of the API server (default: false)",
  },
  "watch-namespace": {
    variable: "QM_WATCH_NAMESPACE",
    about: "only plans of this namespace (default: all)",
  },
  "metrics-port": {
    variable: "QM_METRICS_PORT",
    about: "for /metrics, /healthz and /readyz (default: 8080)",
  },
  "metrics-host": { variable: "QM_METRICS_HOST", about: "address to listen on (default: all)" },
  "log-level": { variable: "QM_LOG_LEVEL", about: "debug, info, warn or error (default: info)" },
  "lease-namespace": {
    variable: "QM_LEASE_NAMESPACE",
    about: "namespace of the lease; without one this replica always acts",
  },
  identity: {
    variable: "QM_IDENTITY",
    about: "name of this replica in the lease, e.g. its pod (default: random)",
  },
  concurrency: { variable: "QM_CONCURRENCY", about: "plans worked on at the same time (default: 4)" },
  "require-author": {
    variable: "QM_REQUIRE_AUTHOR",
    about: "true or false: do nothing for plans whose author is not recorded (default: false)",
  },
} as const;

/** Digits alone: `0x10` and `1e3` are slips, not numbers. */
const wholeNumber = z
  .string()
  .regex(/^-?\d+$/, "must be a whole number")
  .transform(Number);

const namespaceName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, "must be the name of a namespace");

const domainList = z
  .string()
  .transform((text) => text.split(","))
  .pipe(z.array(z.enum(domainNames)));

const shape = z.object({
  domains: domainList.default([...domainNames]),
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  "insecure-skip-tls-verify": z
    .enum(["true", "false"])
    .default("false")
    .transform((value) => value === "true"),
  "watch-namespace": namespaceName.optional(),
  "metrics-port": wholeNumber.pipe(z.number().int().min(0).max(65_535)).default(8080),
  "metrics-host": z.string().optional(),
  "log-level": z.enum(["debug", "info", "warn", "error"]).default("info"),
  "lease-namespace": namespaceName.optional(),
  identity: z.string().optional(),
  concurrency: wholeNumber.pipe(z.number().int().min(1).max(64)).default(4),
  "require-author": z
    .enum(["true", "false"])
    .default("false")
    .transform((value) => value === "true"),
});

/** Reads flags and environment once. Throws SettingsError that names every flag in fault. */
export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  const flags = readFlags(args);
  const given = Object.fromEntries(
    Object.entries(options).map(([name, { variable }]) => [name, flags.values[name] ?? said(env[variable])]),
  );
  const parsed = shape.safeParse(given);
  if (!parsed.success)
    throw new SettingsError(
      parsed.error.issues.map(({ path, message }) => `--${path.join(".")}: ${message}`).join("; "),
    );
  const { data } = parsed;
  return {
    ...optional("kubeconfigPath", data.kubeconfig),
    ...optional("context", data.context),
    ...optional("watchNamespace", data["watch-namespace"]),
    ...optional("leaseNamespace", data["lease-namespace"]),
    ...optional("identity", data.identity),
    ...optional("metricsHost", data["metrics-host"]),
    insecureSkipTlsVerify: data["insecure-skip-tls-verify"],
    domains: data.domains,
    metricsPort: data["metrics-port"],
    logLevel: data["log-level"],
    concurrency: data.concurrency,
    requireAuthor: data["require-author"],
    isHelpWanted: flags.isHelpWanted,
  };
}

/** A variable that is set to nothing, as manifests do, is not set. */
function said(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

/** The flags as a table for people. */
export function describeSettings(): string {
  const lines = Object.entries(options).map(
    ([name, { variable, about }]) => `  --${name.padEnd(24)} ${variable.padEnd(27)} ${about}`,
  );
  return ["Usage: quartermaster-operator [flags]", "", ...lines, ""].join("\n");
}

/** Flags that may stand alone. */
const switches: ReadonlySet<string> = new Set(["--insecure-skip-tls-verify", "--require-author"]);

interface Flags {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly isHelpWanted: boolean;
}

function readFlags(args: readonly string[]): Flags {
  const known = Object.fromEntries(Object.keys(options).map((name) => [name, { type: "string" as const }]));
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

function optional<K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a record of the one key
  return (value === undefined || value === "" ? {} : { [key]: value }) as Partial<Record<K, string>>;
}
