import { existsSync } from "node:fs";
import { join } from "node:path";

import type { System } from "../system/system.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { authorityFileSource, readNamed, tokenFileSource } from "./file-sources.ts";
import { combineSources, fixedSource } from "./source.ts";

const defaultFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Whether this process runs in a pod with the address of its API server. */
export function isInCluster({ env }: System): boolean {
  return (env["KUBERNETES_SERVICE_HOST"] ?? "") !== "" && (env["KUBERNETES_SERVICE_PORT"] ?? "") !== "";
}

/** The configuration of a pod: its service account's token, re-read as kubelet renews it, and the cluster's authority. */
export async function inClusterConfig(system: System, folder = defaultFolder): Promise<ClusterConfig> {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = system.env;
  const token = tokenFileSource(system, { path: join(folder, "token"), field: "token" });
  const authorities = authorityFileSource(system, { path: join(folder, "ca.crt"), field: "ca.crt" });
  await Promise.all([token.refresh(), authorities.refresh()]);
  const namespace = await namespaceIn(folder);
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    tls: { authorities, insecure: false },
    credentials: combineSources(token, fixedSource(undefined), (value) => ({ token: value })),
    namespace: namespace === "" ? "default" : namespace,
    contextName: "in-cluster",
  };
}

/** A projected volume of one's own making need not have the file. */
async function namespaceIn(folder: string): Promise<string> {
  const path = join(folder, "namespace");
  return existsSync(path) ? (await readNamed({ path, field: "namespace" })).trim() : "";
}
