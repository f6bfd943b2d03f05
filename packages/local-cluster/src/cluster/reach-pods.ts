import { existsSync } from "node:fs";
import { request } from "node:http";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";

import { Component } from "../control-plane/component.ts";
import { findFreePort } from "../control-plane/free-port.ts";
import { LocalClusterError } from "../errors.ts";
import { HUB, networkNamespaceFile } from "../nodes/network.ts";
import { checkedSocket } from "../nodes/node-paths.ts";
import { accepts, openHostPassage } from "../nodes/passage.ts";
import type { PodTarget } from "../nodes/relay-endpoint.ts";
import { realSystem, type System } from "../system/system.ts";

/** A way from this machine to the pods and Services of one cluster. */
export interface PodReach {
  /** Opens a connection to a port of a pod or a Service. Rejects when nothing listens there. */
  dial(target: PodTarget, signal?: AbortSignal): Promise<Socket>;
  /**
   * A port of this machine's loopback that leads to the target, for clients that cannot dial. Disposing of it closes it. A function is
   * called for each connection, e.g. to look up a Service that may be created again under another address.
   */
  localPort(
    target: PodTarget | (() => Promise<PodTarget>),
  ): Promise<AsyncDisposable & { readonly port: number }>;
}

/** The socket for connections to pods of the cluster in this directory, once `reachPods` has opened it: it serves HTTP's CONNECT. */
export function podSocketOf(directory: string): string {
  return join(directory, "pods.sock");
}

/**
 * Opens the way from this machine to the pods of a running cluster. Pods of all local clusters have the same addresses, so there is no
 * route to them: a process in the cluster's own network passes connections on. It ends with the cluster.
 *
 * @example
 * const pods = await reachPods(cluster.directory);
 * const socket = await pods.dial({ host: "10.244.1.7", port: 9200 });
 */
export async function reachPods(directory: string, system: System = realSystem): Promise<PodReach> {
  const networkNamespace = networkNamespaceFile(directory, HUB);
  if (!existsSync(networkNamespace))
    throw new LocalClusterError(
      "BadUsage",
      `The cluster in ${directory} has no real nodes, so there is no pod to reach.`,
      "Start it with nodes.",
    );
  const socketPath = checkedSocket(podSocketOf(directory));
  if (!(await accepts({ path: socketPath })))
    await startRelay({ directory, socketPath, networkNamespace }, system);
  const dial: PodReach["dial"] = async (target, signal) => await dialThrough(socketPath, target, signal);
  return { dial, localPort: async (target) => await openLocalPort(target, dial) };
}

interface RelayAddress {
  readonly directory: string;
  readonly socketPath: string;
  readonly networkNamespace: string;
}

async function startRelay(
  { directory, socketPath, networkNamespace }: RelayAddress,
  system: System,
): Promise<void> {
  const relay = new Component({
    launchRequest: {
      name: "relay-pods",
      directory,
      command: process.execPath,
      args: ["--max-old-space-size=32", join(import.meta.dirname, "../nodes/pod-relay.ts"), socketPath],
      networkNamespace,
    },
    isReady: async () => await accepts({ path: socketPath }),
    system,
  });
  await relay.ready();
}

async function dialThrough(
  socketPath: string,
  { host, port }: PodTarget,
  signal?: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const path = `${host}:${port}`;
  const requested = request({
    socketPath,
    method: "CONNECT",
    path,
    agent: false,
    signal,
  });
  requested.once("error", reject);
  requested.once("connect", (response, socket: Socket, head: Buffer) => {
    if (response.statusCode !== 200) {
      socket.destroy();
      reject(Object.assign(new Error(`nothing listens at ${path}`), { code: "ECONNREFUSED" }));
      return;
    }
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  requested.end();
  return await promise;
}

async function openLocalPort(
  target: PodTarget | (() => Promise<PodTarget>),
  dial: PodReach["dial"],
): Promise<AsyncDisposable & { readonly port: number }> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    open.add(near);
    near.once("close", () => open.delete(near));
    near.on("error", () => near.destroy());
    void passOn(near, target, dial);
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(0, "127.0.0.1", () => resolve());
  await listening;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  return {
    port: address.port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      const { promise: closed, resolve: close } = Promise.withResolvers<void>();
      server.close(() => close());
      await closed;
    },
  };
}

async function passOn(
  near: Socket,
  target: PodTarget | (() => Promise<PodTarget>),
  dial: PodReach["dial"],
): Promise<void> {
  try {
    const far = await dial(typeof target === "function" ? await target() : target);
    far.on("error", () => near.destroy());
    near.on("close", () => far.destroy());
    near.pipe(far);
    far.pipe(near);
  } catch {
    // Nothing listens there: the client sees its connection end, as it would without us.
    near.destroy();
  }
}

/**
 * A free port of this machine's loopback that the API server of a running cluster reaches as `127.0.0.1`, for a webhook outside. Where
 * the cluster has real nodes, its API server is in a network namespace of its own, and relays are started that end with the cluster.
 *
 * @example
 * const port = await reachHostPort(clusterFolderOf("quartermaster"));
 */
export async function reachHostPort(directory: string, system: System = realSystem): Promise<number> {
  const port = await findFreePort();
  if (existsSync(networkNamespaceFile(directory, HUB))) await openHostPassage({ directory, port, system });
  return port;
}
