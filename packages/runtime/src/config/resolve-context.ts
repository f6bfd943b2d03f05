import { dirname, resolve } from "node:path";

import { ConfigError } from "../errors.ts";
import type { System } from "../system/system.ts";
import type { ClusterConfig, TlsConfig } from "./cluster-config.ts";
import { authorityFileSource } from "./file-sources.ts";
import { impersonationOf } from "./impersonation.ts";
import type { ClusterEntry, ContextEntry, UserEntry } from "./kubeconfig.ts";
import { type Located, type MergedConfig, nobody } from "./merge-kubeconfigs.ts";
import { decodeData } from "./pem-data.ts";
import { fixedSource, type Source } from "./source.ts";
import { userCredentials } from "./user-credentials.ts";

/** The configuration that a context stands for. Files it points to are read once now, so that faults show at once. */
export async function resolveContext(
  system: System,
  merged: MergedConfig,
  wanted: string | undefined,
): Promise<ClusterConfig> {
  const contextName = wanted ?? merged.currentContext;
  if (contextName === undefined) throw missing(merged, "current-context", "no current context");
  const context = merged.contexts.get(contextName);
  if (context === undefined) throw missing(merged, "contexts", `no context "${contextName}"`);
  const cluster = entryNamed(merged.clusters, context.value.cluster, { referrer: context, what: "cluster" });
  const user = userOf(merged, context);
  const tls = tlsOf(system, cluster);
  const credentials = userCredentials(system, user, { cluster: cluster.value, authorities: tls.authorities });
  await Promise.all([tls.authorities.refresh(), user.value.exec ? undefined : credentials.refresh()]);
  const impersonate = impersonationOf(user);
  const proxyUrl = proxyOf(cluster);
  return {
    server: checkUrl(cluster, "server", cluster.value.server),
    tls,
    credentials,
    namespace: context.value.namespace ?? "default",
    contextName,
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
}

interface Reference {
  readonly referrer: Located<unknown>;
  readonly what: string;
}

function entryNamed<T>(
  entries: ReadonlyMap<string, Located<T>>,
  name: string,
  { referrer, what }: Reference,
): Located<T> {
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  const field = `${referrer.field}.${what}`;
  throw new ConfigError(`no ${what} "${name}"`, { code: "configMissingEntry", file: referrer.file, field });
}

function userOf(merged: MergedConfig, context: Located<ContextEntry>): Located<UserEntry> {
  const { user } = context.value;
  if (user === undefined || user === "") return { ...context, value: nobody };
  return entryNamed(merged.users, user, { referrer: context, what: "user" });
}

function missing({ files }: MergedConfig, field: string, problem: string): ConfigError {
  return new ConfigError(problem, { code: "configMissingEntry", file: files.join(", "), field });
}

function tlsOf(system: System, cluster: Located<ClusterEntry>): TlsConfig {
  const { "tls-server-name": serverName = "", "insecure-skip-tls-verify": insecure = false } = cluster.value;
  return {
    authorities: authoritiesOf(system, cluster),
    insecure,
    ...(serverName === "" ? {} : { serverName }),
  };
}

/** Inline data wins over a file. */
function authoritiesOf(system: System, cluster: Located<ClusterEntry>): Source<string | undefined> {
  const { "certificate-authority-data": data = "", "certificate-authority": path = "" } = cluster.value;
  if (data !== "") return fixedSource(decodeData(cluster, "certificate-authority-data", data));
  if (path === "") return fixedSource(undefined);
  const field = `${cluster.field}.certificate-authority`;
  return authorityFileSource(system, { path: resolve(dirname(cluster.file), path), field });
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
