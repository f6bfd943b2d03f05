import { dirname, resolve } from "node:path";

import type { z } from "zod";

import { ConfigError } from "../errors.ts";
import type { System } from "../system/system.ts";
import { type ClusterConfig, fixedSource, type Source, type TlsConfig } from "./cluster-config.ts";
import { caFileSource } from "./polled-source.ts";
import {
  type ClusterEntry,
  clusterSchema,
  type ContextEntry,
  contextSchema,
  type Located,
  type MergedConfig,
  schemaError,
  type UserEntry,
  userSchema,
} from "./read-kubeconfig.ts";
import { decodeData, impersonationOf, userCredentials } from "./user-credentials.ts";

export interface Wanted {
  /** Undefined stands for the current one. */
  readonly contextName: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
}

/** The configuration that a context stands for. Files it points to are read once now, so that faults show immediately. */
export async function resolveContext(
  system: System,
  merged: MergedConfig,
  wanted: Wanted,
): Promise<ClusterConfig> {
  const contextName = wanted.contextName ?? merged.currentContext;
  if (contextName === undefined) throw missing(merged, "current-context", "no current context");
  const named = merged.contexts.get(contextName);
  if (named === undefined) throw missing(merged, "contexts", `no context "${contextName}"`);
  const context = checked(contextSchema, named);
  const referred = entryNamed(merged.clusters, context.value.cluster, { referrer: context, what: "cluster" });
  const cluster = checked(clusterSchema, referred);
  const user = userOf(merged, context);
  const tls = tlsOf(system, cluster, wanted);
  const server = checkUrl(cluster, "server", cluster.value.server);
  refusePlainCredentials(server, user);
  const credentials = userCredentials(system, user, { cluster: cluster.value, cas: tls.cas });
  await Promise.all([tls.cas.refresh(), user.value.exec ? undefined : credentials.refresh()]);
  const impersonate = impersonationOf(user);
  const proxyUrl = proxyOf(cluster);
  return {
    server,
    tls,
    credentials,
    namespace: namespaceOf(context),
    contextName,
    proxyUrl,
    impersonate,
  };
}

function checked<S extends z.ZodType>(
  schema: S,
  { value, file, field }: Located<unknown>,
): Located<z.output<S>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data, file, field };
  throw schemaError(file, parsed.error, field);
}

function namespaceOf({ value: { namespace = "" } }: Located<ContextEntry>): string {
  return namespace === "" ? "default" : namespace;
}

interface Reference {
  readonly referrer: Located<unknown>;
  readonly what: string;
}

function entryNamed(
  entries: ReadonlyMap<string, Located<unknown>>,
  name: string,
  { referrer, what }: Reference,
): Located<unknown> {
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  const field = `${referrer.field}.${what}`;
  throw new ConfigError(`no ${what} "${name}"`, { code: "configMissingEntry", file: referrer.file, field });
}

function userOf(merged: MergedConfig, context: Located<ContextEntry>): Located<UserEntry> {
  const { user } = context.value;
  if (user === undefined || user === "") return checked(userSchema, { ...context, value: {} });
  return checked(userSchema, entryNamed(merged.users, user, { referrer: context, what: "user" }));
}

function missing({ files }: MergedConfig, field: string, problem: string): ConfigError {
  return new ConfigError(problem, { code: "configMissingEntry", file: files.join(", "), field });
}

/** Anybody on the way could read and use it. `exec` provides a credential only when a request is sent; see Identity. */
function refusePlainCredentials(server: string, { value, file, field }: Located<UserEntry>): void {
  if (!server.startsWith("http:")) return;
  const secrets = ["token", "tokenFile", "password"] as const;
  const found = secrets.find((name) => (value[name] ?? "") !== "");
  if (found === undefined) return;
  throw new ConfigError(
    "must not be sent over http:; use an https: server, or kubectl proxy and no credential",
    {
      code: "configInsecure",
      file,
      field: `${field}.${found}`,
    },
  );
}

function tlsOf(
  system: System,
  cluster: Located<ClusterEntry>,
  { insecureSkipTlsVerify: insecure }: Wanted,
): TlsConfig {
  const name = "insecure-skip-tls-verify";
  const { "tls-server-name": serverName = "" } = cluster.value;
  if (cluster.value[name] === true && !insecure)
    throw new ConfigError(
      `any host could pose as the server; set certificate-authority instead, or pass --${name} to accept that`,
      { code: "configInsecure", file: cluster.file, field: `${cluster.field}.${name}` },
    );
  return {
    cas: casOf(system, cluster),
    insecure,
    ...(serverName === "" ? {} : { serverName }),
  };
}

/** Inline data wins over a file. */
function casOf(system: System, cluster: Located<ClusterEntry>): Source<string | undefined> {
  const { "certificate-authority-data": data = "", "certificate-authority": path = "" } = cluster.value;
  if (data !== "") return fixedSource(decodeData(cluster, "certificate-authority-data", data));
  if (path === "") return fixedSource(undefined);
  const field = `${cluster.field}.certificate-authority`;
  return caFileSource(system, { path: resolve(dirname(cluster.file), path), field });
}

function proxyOf(cluster: Located<ClusterEntry>): string | undefined {
  const { "proxy-url": url = "" } = cluster.value;
  return url === "" ? undefined : checkUrl(cluster, "proxy-url", url);
}

function checkUrl({ file, field }: Located<ClusterEntry>, name: string, url: string): string {
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: "" };
  const known = name === "server" ? ["https:", "http:"] : ["https:", "http:", "socks5:"];
  if (known.includes(protocol)) return url.replace(/\/+$/, "");
  throw new ConfigError("not a URL that can be used", {
    code: "configInvalid",
    file,
    field: `${field}.${name}`,
  });
}
