import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import type { Binaries } from "../assets/resolve.ts";
import { findFreePort } from "../control-plane/free-port.ts";
import type { ControlPlane } from "../control-plane/start-control-plane.ts";
import { openHostPassage } from "../nodes/passage.ts";
import { isAlive, residentBytes } from "../process/process-identity.ts";
import { readRecords } from "../process/recorded-process.ts";
import { startPausableRelay } from "../relay/pausable-relay.ts";
import type { System } from "../system/system.ts";
import { destroyCluster } from "./destroy-cluster.ts";
import type { Guard } from "./guard.ts";
import type { ComponentUsage, KubectlResult, LocalCluster, StaleApiServer } from "./local-cluster.ts";
import type { ClusterPlan } from "./options.ts";
import { type ClusterCore, kubeconfigIn } from "./start-core.ts";

/** The parts of a cluster that has started. */
export interface ClusterParts {
  readonly plan: ClusterPlan;
  readonly binaries: Binaries;
  readonly core: ClusterCore;
  readonly notes: readonly string[];
  readonly guard: Guard;
  readonly system: System;
}

/** Puts the handle together that users hold. */
export async function assembleCluster(folder: string, parts: ClusterParts): Promise<LocalCluster> {
  const { plan, binaries, guard, system, notes } = parts;
  const { controlPlane, nodes } = parts.core;
  const { admin } = controlPlane;
  const kubeconfigPath = kubeconfigIn(folder);
  const stale = plan.staleApiServer ? await addStaleApiServer(folder, controlPlane) : undefined;
  // kubectl's cache of discovery would otherwise stay in the user's home when the cluster is gone.
  const kubectlArguments = [`--kubeconfig=${kubeconfigPath}`, `--cache-dir=${join(folder, "kubectl-cache")}`];
  const stop = async (): Promise<void> => {
    await stale?.relay[Symbol.asyncDispose]();
    await destroyCluster(folder, system);
    await guard.release();
  };
  return {
    name: plan.name,
    profile: plan.nodes.length === 0 ? "control-plane" : "nodes",
    kubernetesVersion: binaries.version,
    folder,
    kubeconfigPath,
    admin,
    etcd: controlPlane.etcd,
    apiServer: controlPlane.apiServer,
    stale,
    auditLogPath: controlPlane.auditLogPath,
    nodes,
    notes,
    reachHostPort: async (port) => {
      if (nodes.length > 0) await openHostPassage({ folder, port, system });
    },
    kubectl: async (args, options) =>
      await runKubectl(binaries.path("kubectl"), [...kubectlArguments, ...args], options?.input),
    usage: () => measureUsage(folder),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function addStaleApiServer(folder: string, controlPlane: ControlPlane): Promise<StaleApiServer> {
  const relay = await startPausableRelay(join(folder, "etcd-stale-relay.sock"), controlPlane.etcd.socketPath);
  const port = await findFreePort();
  const url = `https://127.0.0.1:${port}`;
  const apiServer = await controlPlane.addApiServer("kube-apiserver-stale", relay.socketPath, {
    address: "127.0.0.1",
    port,
    url,
  });
  return { apiServer, relay };
}

/** Resident memory of every recorded process that lives. */
export function measureUsage(folder: string): readonly ComponentUsage[] {
  return readRecords(folder)
    .filter(({ identity }) => isAlive(identity))
    .map(({ name, identity }) => ({
      name,
      pid: identity.pid,
      residentBytes: residentBytes(identity.pid) ?? 0,
    }));
}

async function runKubectl(
  command: string,
  args: readonly string[],
  input: string | undefined,
): Promise<KubectlResult> {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  const { promise: exited, resolve, reject } = Promise.withResolvers<number>();
  child.once("error", reject).once("close", (code) => resolve(code ?? 1));
  child.stdin.on("error", () => undefined); // kubectl may end without reading its input
  child.stdin.end(input ?? "");
  const [code, stdout, stderr] = await Promise.all([exited, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
