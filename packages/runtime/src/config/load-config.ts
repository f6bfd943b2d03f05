import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import { ConfigError } from "../errors.ts";
import type { System } from "../system/system.ts";
import { type ClusterConfig, combineSources, fixedSource } from "./cluster-config.ts";
import { caFileSource, readNamed, tokenFileSource } from "./polled-source.ts";
import type { Kubeconfig } from "./read-kubeconfig.ts";

/** Which cluster is meant. */
export interface LoadConfigOptions {
  readonly system: System;
  /** This file and no other; it must exist. */
  readonly kubeconfigPath?: string | undefined;
  /** This context instead of the current one. */
  readonly context?: string | undefined;
  /** Any certificate of the server will do (default: false). A kubeconfig that says so itself is refused without this. */
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** Where a pod finds its identity (default: the usual directory). */
  readonly serviceAccountDirectory?: string | undefined;
}

/**
 * Finds the cluster as kubectl does: the file given, else those in KUBECONFIG, else `~/.kube/config`, else the pod's own
 * service account. Throws ConfigError that names file and field.
 *
 * @example
 * const config = await loadConfig({ system: realSystem() });
 */
export async function loadConfig(options: LoadConfigOptions): Promise<ClusterConfig> {
  const { system, context, insecureSkipTlsVerify = false } = options;
  const configs = await readAll(options);
  if (configs.length > 0) {
    const { mergeKubeconfigs } = await import("./read-kubeconfig.ts");
    const { resolveContext } = await import("./resolve-context.ts");
    const merged = mergeKubeconfigs(configs);
    return await resolveContext(system, merged, { contextName: context, insecureSkipTlsVerify });
  }
  if (isInCluster(system)) return await inClusterConfig(system, options.serviceAccountDirectory);
  throw new ConfigError("no kubeconfig found and not running in a cluster", { code: "configNotFound" });
}

interface ReadConfig {
  readonly file: string;
  readonly config: Kubeconfig;
}

async function readAll({ system, kubeconfigPath }: LoadConfigOptions): Promise<readonly ReadConfig[]> {
  if (kubeconfigPath !== undefined) return [await readOne(kubeconfigPath)];
  const read = await Promise.all(candidateFiles(system).filter(existsSync).map(readIfThere));
  return read.filter((config) => config !== undefined);
}

/** Files that need not exist. */
function candidateFiles({ env }: System): readonly string[] {
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  if (listed.length > 0) return listed;
  const home = env["HOME"] ?? env["USERPROFILE"];
  return home === undefined || home === "" ? [] : [join(home, ".kube", "config")];
}

/** The parser of kubeconfigs is loaded only for a file that is there: a pod has none, and YAML alone is 6 MB. */
async function readOne(file: string): Promise<ReadConfig> {
  const { readKubeconfig } = await import("./read-kubeconfig.ts");
  return { file, config: await readKubeconfig(file) };
}

async function readIfThere(file: string): Promise<ReadConfig | undefined> {
  try {
    return await readOne(file);
  } catch (error) {
    if (error instanceof ConfigError && error.code === "configNotFound") return undefined;
    throw error;
  }
}

const defaultDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Whether this process runs in a pod with the address of its API server. */
function isInCluster({ env }: System): boolean {
  return (env["KUBERNETES_SERVICE_HOST"] ?? "") !== "" && (env["KUBERNETES_SERVICE_PORT"] ?? "") !== "";
}

/** The configuration of a pod: its service account's token, re-read as kubelet renews it, and the cluster's CA. */
async function inClusterConfig(system: System, directory = defaultDirectory): Promise<ClusterConfig> {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = system.env;
  const token = tokenFileSource(system, { path: join(directory, "token"), field: "token" });
  const cas = caFileSource(system, { path: join(directory, "ca.crt"), field: "ca.crt" });
  await Promise.all([token.refresh(), cas.refresh()]);
  const namespace = await namespaceIn(directory);
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    tls: { cas, insecure: false },
    credentials: combineSources(token, fixedSource(undefined), (value) => ({ token: value })),
    namespace: namespace === "" ? "default" : namespace,
    contextName: "in-cluster",
  };
}

/** A projected volume of one's own making need not have the file. */
async function namespaceIn(directory: string): Promise<string> {
  const path = join(directory, "namespace");
  return existsSync(path) ? (await readNamed({ path, field: "namespace" })).trim() : "";
}
