import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";
import { z } from "zod";

import { type ApiAccess, ApiClient } from "../api/api-client.ts";
import { COMPONENTS } from "../assets/component.ts";
import { progressPrinter, type ProgressStream } from "../assets/progress.ts";
import { resolveBinaries } from "../assets/resolve.ts";
import { clustersDirectory, isAbandoned, readOwner } from "../cluster/claim-directory.ts";
import { destroyCluster, reapAbandoned } from "../cluster/destroy-cluster.ts";
import { type LocalCluster, measureUsage } from "../cluster/local-cluster.ts";
import type { LocalClusterOptions, ReadyApi } from "../cluster/options.ts";
import { startLocalCluster } from "../cluster/start-local-cluster.ts";
import { LocalClusterError } from "../errors.ts";
import { readBootId } from "../process/process-identity.ts";
import { realSystem, type System } from "../system/system.ts";
import { type Command, DEFAULT_NAME, HELP, parseCommand, type UpOptions } from "./parse-command.ts";

/** Where a command writes: results to `out`, progress and errors to `err`. */
export interface Terminal {
  readonly out: ProgressStream;
  readonly err: ProgressStream;
  /** Called by `up` once the API of a new cluster responds; see `LocalClusterOptions`. */
  readonly onApiReady?: ((api: ReadyApi) => void) | undefined;
}

/** Runs one command of the `local-cluster` program. Returns its exit code: 0 done, 1 failed, 2 not understood. */
export async function executeCommand(
  argv: readonly string[],
  terminal: Terminal,
  system: System = realSystem,
): Promise<number> {
  try {
    return await dispatch(parseCommand(argv), terminal, system);
  } catch (error) {
    if (!(error instanceof LocalClusterError)) throw error;
    terminal.err.write(`${error.message}\n`);
    return error.code === "BadUsage" ? 2 : 1;
  }
}

async function dispatch(command: Command, terminal: Terminal, system: System): Promise<number> {
  switch (command.kind) {
    case "up":
      return await bringUp(command.options, terminal, system);
    case "down":
      return await bringDown(command.name, terminal, system);
    case "status":
      return showStatus(command.name, terminal, system);
    case "build":
      return await buildOnly(command.kubernetesVersion, terminal, system);
    case "help":
      terminal.out.write(HELP);
      return 0;
    default:
      return unreachable(command);
  }
}

async function buildOnly(version: string | undefined, terminal: Terminal, system: System): Promise<number> {
  const components = COMPONENTS.map(({ name }) => name);
  const binaries = await resolveBinaries({
    components,
    system,
    report: progressPrinter(terminal.err, system),
    version,
  });
  for (const name of components) terminal.out.write(`${binaries.path(name)}\n`);
  return 0;
}

function unreachable(command: never): never {
  throw new Error(`unknown command ${JSON.stringify(command)}`);
}

/** Starts the cluster, applies the given manifests and prints where to look; a cluster that runs already is left as it is. */
async function bringUp(options: UpOptions, terminal: Terminal, system: System): Promise<number> {
  const directory = join(clustersDirectory(system), options.name);
  if (await isRunning(directory, system)) {
    terminal.out.write(`cluster ${options.name} is running already\n`);
  } else {
    const cluster = await startWithTime(options, terminal, system);
    for (const file of options.apply) await applyFile(cluster, file, terminal);
  }
  terminal.out.write(whereToRead(directory, options));
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
function whereToRead(directory: string, { name }: UpOptions): string {
  const forName = name === DEFAULT_NAME ? "" : ` ARGS="--name ${name}"`;
  return `
  export KUBECONFIG=${join(directory, "kubeconfig")}
  export PATH=${join(directory, "bin")}:$PATH   # kubectl of the cluster's version
  kubectl get nodes,pods -A

  make status${forName}   shows its processes and their memory
  make down${forName}     ends it and removes everything
`;
}

function clusterOptions(
  options: UpOptions,
  { err, onApiReady = () => undefined }: Terminal,
  system: System,
): LocalClusterOptions {
  return {
    onApiReady,
    name: options.name,
    images: options.images,
    lifetime: "detached",
    installPrerequisites: true,
    report: progressPrinter(err, system),
    ...(options.profile === "control-plane"
      ? { kwokNodes: options.nodeCount }
      : { nodes: options.nodeCount }),
    kubernetesVersion: options.kubernetesVersion,
    port: options.port,
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

/** A cluster of ours whose API responds is kept; the remains of one are cleared away, because a start needs the directory. */
async function isRunning(directory: string, system: System): Promise<boolean> {
  const owner = readOwner(directory);
  // An attached owner is another `up` on its way, or one that died there: the start itself refuses or reaps.
  if (owner === undefined || owner.mode === "attached" || isAbandoned(owner, readBootId())) return false;
  if (await responses(join(directory, "kubeconfig"))) return true;
  await destroyCluster(directory, system);
  return false;
}

async function responses(kubeconfigPath: string): Promise<boolean> {
  if (!existsSync(kubeconfigPath)) return false;
  using client = new ApiClient(readAccess(kubeconfigPath));
  try {
    return (await client.send({ path: "/readyz", timeoutMs: 5000 })).status === 200;
  } catch {
    // No response is a response too: the processes have ended or are stuck.
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

/** Ends the cluster of that name, and clears away what killed launchers left of others. */
async function bringDown(name: string, { out }: Terminal, system: System): Promise<number> {
  const parent = clustersDirectory(system);
  const directory = join(parent, name);
  const wasThere = existsSync(directory);
  if (wasThere) await destroyCluster(directory, system);
  await reapAbandoned(parent, system);
  out.write(wasThere ? `cluster ${name} is down, nothing of it is left\n` : `there is no cluster ${name}\n`);
  return 0;
}

/** Lists the processes of the cluster with their resident memory. Exit code 1 when there is none. */
function showStatus(name: string, { out }: Terminal, system: System): number {
  const directory = join(clustersDirectory(system), name);
  if (!existsSync(directory)) {
    out.write(`there is no cluster ${name}; \`make up\` starts one\n`);
    return 1;
  }
  out.write(`${"PROCESS".padEnd(32)}${"PID".padStart(8)}${"RESIDENT".padStart(12)}\n`);
  for (const { name: process, pid, residentBytes } of measureUsage(directory)) {
    out.write(
      `${process.padEnd(32)}${String(pid).padStart(8)}${`${Math.round(residentBytes / 1e6)} MB`.padStart(12)}\n`,
    );
  }
  return 0;
}
