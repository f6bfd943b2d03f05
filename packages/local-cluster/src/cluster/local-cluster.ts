import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import type { ApiAccess } from "../api/api-client.ts";
import type { Binaries } from "../assets/resolve.ts";
import type { ComponentHandle, EtcdHandle } from "../control-plane/component.ts";
import { findFreePort } from "../control-plane/free-port.ts";
import type { ControlPlane } from "../control-plane/start-control-plane.ts";
import { openHostPassage } from "../nodes/passage.ts";
import type { NodeHandle } from "../nodes/start-nodes.ts";
import { isAlive, readRecords, residentBytes } from "../process/process-identity.ts";
import { type PausableRelay, startPausableRelay } from "../relay/pausable-relay.ts";
import type { System } from "../system/system.ts";
import type { Guard } from "./claim-directory.ts";
import { destroyCluster } from "./destroy-cluster.ts";
import type { ClusterPlan } from "./options.ts";
import { type ClusterCore, kubeconfigIn } from "./start-core.ts";

/** Output of kubectl. */
export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An API server: a component with an address. */
export interface ApiServerHandle extends ComponentHandle {
  readonly url: string;
}

/** A second API server, and the relay that can hold back its view of etcd. */
export interface StaleApiServer {
  readonly apiServer: ApiServerHandle;
  readonly relay: PausableRelay;
}

/** One process of the cluster and what it takes of the machine. */
export interface ComponentUsage {
  readonly name: string;
  readonly pid: number;
  readonly residentBytes: number;
}

/** A running Kubernetes. `await using` stops it. */
export interface LocalCluster extends AsyncDisposable {
  readonly name: string;
  readonly profile: "control-plane" | "nodes";
  readonly kubernetesVersion: string;
  /** Everything the cluster has on disk. */
  readonly directory: string;
  /** Kubeconfig of the administrator; its credential is a bearer token, so it works through a proxy too. */
  readonly kubeconfigPath: string;
  /** The same as plain values. */
  readonly admin: ApiAccess;
  readonly etcd: EtcdHandle;
  readonly apiServer: ApiServerHandle;
  /** Undefined unless the cluster was started with `staleApiServer`. */
  readonly stale: StaleApiServer | undefined;
  /** The real nodes, in the order requested; empty in the control-plane profile. */
  readonly nodes: readonly NodeHandle[];
  /** Undefined unless the cluster was started with `audit`. */
  readonly auditLogPath: string | undefined;
  /** Sentences for the user about differences from the request. */
  readonly notes: readonly string[];
  /**
   * Makes a port of this machine's loopback reachable on the API server's loopback too, for webhooks that run here. Does
   * nothing where the API server is on the same loopback.
   */
  reachHostPort(port: number): Promise<void>;
  /** Runs the kubectl of the cluster's version as its administrator. Resolves whatever the exit code. */
  kubectl(args: readonly string[], options?: { readonly input?: string }): Promise<KubectlResult>;
  /** The processes that make up the cluster, with their resident memory. */
  usage(): readonly ComponentUsage[];
  /** Ends everything and removes the directory. */
  stop(): Promise<void>;
}

/** The parts of a cluster that has started. */
export interface ClusterOptions {
  readonly plan: ClusterPlan;
  readonly binaries: Binaries;
  readonly core: ClusterCore;
  readonly notes: readonly string[];
  readonly guard: Guard;
  readonly system: System;
}

/** Puts the handle together that users hold. */
export async function assembleCluster(directory: string, parts: ClusterOptions): Promise<LocalCluster> {
  const { plan, binaries, guard, system, notes } = parts;
  const { controlPlane, nodes } = parts.core;
  const { admin } = controlPlane;
  const kubeconfigPath = kubeconfigIn(directory);
  const stale = plan.staleApiServer ? await addStaleApiServer(directory, controlPlane) : undefined;
  // kubectl's cache of discovery would otherwise stay in the user's home when the cluster no longer exists.
  const kubectlArguments = [
    `--kubeconfig=${kubeconfigPath}`,
    `--cache-dir=${join(directory, "kubectl-cache")}`,
  ];
  const stop = async (): Promise<void> => {
    await stale?.relay[Symbol.asyncDispose]();
    await destroyCluster(directory, system);
    await guard.release();
  };
  return {
    name: plan.name,
    profile: plan.nodes.length === 0 ? "control-plane" : "nodes",
    kubernetesVersion: binaries.version,
    directory,
    kubeconfigPath,
    admin,
    etcd: controlPlane.etcd,
    apiServer: controlPlane.apiServer,
    stale,
    auditLogPath: controlPlane.auditLogPath,
    nodes,
    notes,
    reachHostPort: async (port) => {
      if (nodes.length > 0) await openHostPassage({ directory, port, system });
    },
    kubectl: async (args, options) =>
      await runKubectl(binaries.path("kubectl"), [...kubectlArguments, ...args], options?.input),
    usage: () => measureUsage(directory),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function addStaleApiServer(directory: string, controlPlane: ControlPlane): Promise<StaleApiServer> {
  const relay = await startPausableRelay(
    join(directory, "etcd-stale-relay.sock"),
    controlPlane.etcd.socketPath,
  );
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
export function measureUsage(directory: string): readonly ComponentUsage[] {
  return readRecords(directory)
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
