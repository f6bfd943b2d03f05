import { readFile } from "node:fs/promises";

import { type Document, parseDocument } from "yaml";
import * as z from "zod";

import { ConfigError } from "../errors.ts";

/** Real files have a few kilobytes; the YAML reader's time grows with the square of the keys. */
const sizeLimitBytes = 1024 * 1024;

/** Enough for hand-written files, too few for a bomb. */
const aliasLimit = 100;

/** Reads and checks one file. Throws ConfigError that names the file and the field. */
export async function readKubeconfig(file: string): Promise<Kubeconfig> {
  const text = await readText(file);
  const document = parseDocument(text, { prettyErrors: false });
  const [problem] = document.errors;
  if (problem !== undefined) {
    // The parser's own message quotes the line, which may hold a token.
    const line = text.slice(0, problem.pos[0]).split("\n").length;
    throw new ConfigError(`not YAML: ${problem.code} in line ${line}`, { code: "configNotYaml", file });
  }
  const parsed = kubeconfigSchema.safeParse(valueOf(document, file) ?? {});
  if (parsed.success) return parsed.data;
  throw schemaError(file, parsed.error);
}

async function readText(file: string): Promise<string> {
  try {
    const bytes = await readFile(file);
    if (bytes.length <= sizeLimitBytes) return bytes.toString("utf8");
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    const code = isMissing ? "configNotFound" : "configUnreadable";
    throw new ConfigError(isMissing ? "no such file" : "cannot be read", { code, file, cause });
  }
  throw new ConfigError(`larger than ${sizeLimitBytes} bytes`, { code: "configUnreadable", file });
}

function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: aliasLimit }) as unknown;
  } catch (cause) {
    throw new ConfigError("too many aliases or an alias without anchor", {
      code: "configNotYaml",
      file,
      cause,
    });
  }
}

/** A list that may be missing or null, as kubectl writes it. */
function listOf<T extends z.ZodType>(entry: T): z.ZodType<readonly z.output<T>[]> {
  return z
    .array(entry)
    .nullish()
    .transform((list) => list ?? []);
}

/** A field that may be missing or null: `namespace:` with nothing behind it is no namespace. */
const text = z
  .string()
  .nullish()
  .transform((given) => given ?? undefined);

const flag = z
  .boolean()
  .nullish()
  .transform((given) => given ?? undefined);

/** Schema of an entry of `clusters`. */
export const clusterSchema = z.object({
  server: z.string().min(1),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "tls-server-name": text,
  "insecure-skip-tls-verify": flag,
  "proxy-url": text,
  extensions: listOf(z.object({ name: z.string(), extension: z.unknown() })),
});

const execSchema = z.object({
  apiVersion: z.enum(["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]),
  command: z.string().min(1),
  args: listOf(z.string()),
  env: listOf(z.object({ name: z.string().min(1), value: z.string() })),
  installHint: text,
  provideClusterInfo: flag,
  interactiveMode: z.enum(["Never", "IfAvailable", "Always"]).nullish(),
});

/** Schema of an entry of `users`. */
export const userSchema = z.object({
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  as: text,
  "as-uid": text,
  "as-groups": listOf(z.string()),
  "as-user-extra": z.record(z.string(), z.array(z.string())).nullish(),
  exec: execSchema.nullish(),
  "auth-provider": z.unknown().optional(),
});

/** Schema of an entry of `contexts`. */
export const contextSchema = z.object({ cluster: z.string().min(1), user: text, namespace: text });

/**
 * A kubeconfig file, as far as it says how to reach a cluster. Fields we do not know are left alone, and so are entries until
 * a context leads to them: files gather half-made and outdated ones, and kubectl works with them too.
 */
export const kubeconfigSchema = z.object({
  clusters: listOf(z.object({ name: z.string(), cluster: z.unknown().optional() })),
  users: listOf(z.object({ name: z.string(), user: z.unknown().optional() })),
  contexts: listOf(z.object({ name: z.string(), context: z.unknown().optional() })),
  "current-context": z.string().nullish(),
});

export type Kubeconfig = z.output<typeof kubeconfigSchema>;

/** Where a cluster is. */
export type ClusterEntry = z.output<typeof clusterSchema>;

/** A user. */
export type UserEntry = z.output<typeof userSchema>;

/** A program that gives credentials. */
export type ExecEntry = z.output<typeof execSchema>;

/** A cluster and a user together. */
export type ContextEntry = z.output<typeof contextSchema>;

/** Something a file says, with where it says it: paths in it are relative to the file, faults are reported with the field. */
export interface Located<T> {
  readonly value: T;
  readonly file: string;
  /** Path of the entry, e.g. `users[0].user`. */
  readonly field: string;
}

/** The merged content of several files. Entries are checked when they are used. */
export interface MergedConfig {
  readonly clusters: ReadonlyMap<string, Located<unknown>>;
  readonly users: ReadonlyMap<string, Located<unknown>>;
  readonly contexts: ReadonlyMap<string, Located<unknown>>;
  readonly currentContext: string | undefined;
  readonly files: readonly string[];
}

/** Merges as kubectl does: the file that names an entry first, and the first current-context, wins. */
export function mergeKubeconfigs(
  configs: readonly { readonly file: string; readonly config: Kubeconfig }[],
): MergedConfig {
  const clusters = new Map<string, Located<unknown>>();
  const users = new Map<string, Located<unknown>>();
  const contexts = new Map<string, Located<unknown>>();
  for (const { file, config } of configs) {
    for (const [index, { name, cluster }] of config.clusters.entries()) {
      keepFirst(clusters, name, { value: cluster, file, field: `clusters[${index}].cluster` });
    }
    for (const [index, { name, user }] of config.users.entries()) {
      keepFirst(users, name, { value: user ?? {}, file, field: `users[${index}].user` });
    }
    for (const [index, { name, context }] of config.contexts.entries()) {
      keepFirst(contexts, name, { value: context, file, field: `contexts[${index}].context` });
    }
  }
  const currentContext = configs.map(({ config }) => config["current-context"] ?? "").find(Boolean);
  return { clusters, users, contexts, currentContext, files: configs.map(({ file }) => file) };
}

function keepFirst<T>(map: Map<string, T>, name: string, entry: T): void {
  if (!map.has(name)) map.set(name, entry);
}

/** The first fault of a file, or of the part of it under `prefix`, with the path of its field. */
export function schemaError(file: string, { issues }: z.ZodError, prefix = ""): ConfigError {
  const [issue] = issues;
  const field = pathText(prefix, issue?.path ?? []);
  return new ConfigError(issue?.message ?? "invalid", {
    code: "configInvalid",
    file,
    ...(field === "" ? {} : { field }),
  });
}

function pathText(prefix: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((soFar, part) => {
    if (typeof part === "number") return `${soFar}[${part}]`;
    return soFar === "" ? String(part) : `${soFar}.${String(part)}`;
  }, prefix);
}
