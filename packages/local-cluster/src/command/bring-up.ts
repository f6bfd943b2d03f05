import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";
import { z } from "zod";

import type { ApiAccess } from "../api/api-client.ts";
import { ApiClient } from "../api/api-client.ts";
import { progressPrinter } from "../assets/progress-printer.ts";
import { clustersFolder, isAbandoned, readOwner } from "../cluster/cluster-folder.ts";
import { destroyCluster } from "../cluster/destroy-cluster.ts";
import type { LocalCluster } from "../cluster/local-cluster.ts";
import type { LocalClusterOptions } from "../cluster/options.ts";
import { startLocalCluster } from "../cluster/start-local-cluster.ts";
import { LocalClusterError } from "../errors.ts";
import { readBootId } from "../process/process-identity.ts";
import type { System } from "../system/system.ts";
import type { Terminal } from "./execute-command.ts";
import type { UpOptions } from "./parse-command.ts";
import { DEFAULT_NAME } from "./parse-command.ts";

/** Starts the cluster, applies what is to be applied and says where to look; a cluster that runs already is left as it is. */
export async function bringUp(options: UpOptions, terminal: Terminal, system: System): Promise<number> {
  const folder = join(clustersFolder(system), options.name);
  if (await isRunning(folder, system)) {
    terminal.out.write(`cluster ${options.name} is running already\n`);
  } else {
    const cluster = await startWithTime(options, terminal, system);
    for (const file of options.apply) await applyFile(cluster, file, terminal);
  }
  terminal.out.write(whereToLook(folder, options));
  return 0;
}

async function startWithTime(options: UpOptions, terminal: Terminal, system: System): Promise<LocalCluster> {
  const startedMs = system.nowMs();
  const cluster = await startLocalCluster(clusterOptions(options, terminal, system), system);
  const seconds = ((system.nowMs() - startedMs) / 1000).toFixed(1);
  terminal.out.write(
    `Kubernetes ${cluster.kubernetesVersion} is ready after ${seconds} s, profile ${cluster.profile}\n`,
  );
  return cluster;
}

/** Where the user finds the cluster, and what to try. */
function whereToLook(folder: string, { name }: UpOptions): string {
  const forName = name === DEFAULT_NAME ? "" : ` ARGS="--name ${name}"`;
  return `
  export KUBECONFIG=${join(folder, "kubeconfig")}
  export PATH=${join(folder, "bin")}:$PATH   # kubectl of the cluster's version
  kubectl get nodes,pods -A

  make status${forName}   shows its processes and their memory
  make down${forName}     ends it and leaves nothing behind
`;
}

function clusterOptions(
  options: UpOptions,
  { err, onApiReady }: Terminal,
  system: System,
): LocalClusterOptions {
  return {
    ...(onApiReady === undefined ? {} : { onApiReady }),
    name: options.name,
    images: options.images,
    lifetime: "detached",
    installPrerequisites: true,
    report: progressPrinter(err, system),
    ...(options.profile === "control-plane"
      ? { kwokNodes: options.nodeCount }
      : { nodes: options.nodeCount }),
    ...(options.kubernetesVersion === undefined ? {} : { kubernetesVersion: options.kubernetesVersion }),
    ...(options.port === undefined ? {} : { port: options.port }),
  };
}

async function applyFile(cluster: LocalCluster, file: string, { out }: Terminal): Promise<void> {
  const { code, stdout, stderr } = await cluster.kubectl(["apply", "--server-side", "-f", file]);
  if (code !== 0)
    throw new LocalClusterError(
      "ApiRefused",
      `${file} could not be applied: ${stderr.trim()}.`,
      "The cluster is up: mend the file and apply it by kubectl.",
    );
  out.write(stdout.replaceAll(/^/gm, "  ").trimEnd() + "\n");
}

/** A cluster of ours whose API answers is kept; the remains of one are cleared away, because a start needs the folder. */
async function isRunning(folder: string, system: System): Promise<boolean> {
  const owner = readOwner(folder);
  // An attached owner is another `up` on its way, or one that died there: the start itself refuses or reaps.
  if (owner === undefined || owner.mode === "attached" || isAbandoned(owner, readBootId())) return false;
  if (await answers(join(folder, "kubeconfig"))) return true;
  await destroyCluster(folder, system);
  return false;
}

async function answers(kubeconfigPath: string): Promise<boolean> {
  if (!existsSync(kubeconfigPath)) return false;
  using client = new ApiClient(readAccess(kubeconfigPath));
  try {
    return (await client.send({ path: "/readyz", timeoutMs: 5000 })).status === 200;
  } catch {
    // No answer is the answer: the processes are gone or stuck.
    return false;
  }
}

const kubeconfigSchema = z.object({
  clusters: z.tuple([
    z.object({ cluster: z.object({ server: z.string(), "certificate-authority-data": z.base64() }) }),
  ]),
  users: z.tuple([z.object({ user: z.object({ token: z.string() }) })]),
});

function readAccess(kubeconfigPath: string): ApiAccess {
  const config = kubeconfigSchema.parse(parse(readFileSync(kubeconfigPath, "utf8")));
  const { server, "certificate-authority-data": ca } = config.clusters[0].cluster;
  return { server, caPem: Buffer.from(ca, "base64").toString("utf8"), token: config.users[0].user.token };
}
