import { readFile } from "node:fs/promises";
import { connect, type NetConnectOpts } from "node:net";
import { join } from "node:path";

import { Component } from "../control-plane/component.ts";
import type { System } from "../system/system.ts";
import { API_PORT, HUB, HUB_ADDRESS, networkNamespaceFile } from "./network.ts";
import { checkedSocket } from "./node-paths.ts";
import { listeningLine, parseRelayEndpoint } from "./relay-endpoint.ts";

/** A pair of relays between this machine's loopback and the hub's; disposing of it ends both. */
export type Passage = AsyncDisposable;

/** Which cluster, and which port of this machine's loopback. */
export interface PassageRequest {
  readonly directory: string;
  readonly port: number;
  readonly system: System;
}

/** Makes the API server in the hub reachable on a port of this machine's loopback. It need not run yet. */
export async function openApiPassage({ directory, port, system }: PassageRequest): Promise<Passage> {
  const socket = `unix:${checkedSocket(join(directory, "api.sock"))}`;
  return await startPair([
    relay("relay-api-inside", [socket, `tcp:${HUB_ADDRESS}:${API_PORT}`], {
      directory,
      system,
      isInHub: true,
    }),
    relay("relay-api-outside", [`tcp:127.0.0.1:${port}`, socket], { directory, system, isInHub: false }),
  ]);
}

/** Makes a port of this machine's loopback reachable on the hub's loopback too: a webhook outside, as the API server sees it. */
export async function openHostPassage({ directory, port, system }: PassageRequest): Promise<Passage> {
  const socket = `unix:${checkedSocket(join(directory, `host-${port}.sock`))}`;
  return await startPair([
    relay(`relay-host-${port}-outside`, [socket, `tcp:127.0.0.1:${port}`], {
      directory,
      system,
      isInHub: false,
    }),
    relay(`relay-host-${port}-inside`, [`tcp:127.0.0.1:${port}`, socket], {
      directory,
      system,
      isInHub: true,
    }),
  ]);
}

async function startPair(relays: readonly Component[]): Promise<Passage> {
  await Promise.all(relays.map(async (each) => await each.ready()));
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(relays.map(async (each) => await each.kill()));
    },
  };
}

interface RelayAddress {
  readonly directory: string;
  readonly system: System;
  readonly isInHub: boolean;
}

function relay(
  name: string,
  [listen, target]: readonly [string, string],
  { directory, system, isInHub }: RelayAddress,
): Component {
  const networkNamespace = networkNamespaceFile(directory, HUB);
  const entry = join(import.meta.dirname, "socket-relay.ts");
  const component: Component = new Component({
    launchRequest: {
      name,
      directory,
      command: process.execPath,
      args: ["--max-old-space-size=32", entry, listen, target],
      networkNamespace: isInHub ? networkNamespace : undefined,
    },
    isReady: async () => await isListening(listen, component, isInHub),
    system,
  });
  return component;
}

/** A TCP port of the hub cannot be tried from here: its relay says in its log that it listens. */
async function isListening(
  endpoint: string,
  { logPath, pid }: Pick<Component, "logPath" | "pid">,
  isInHub: boolean,
): Promise<boolean> {
  const options = parseRelayEndpoint(endpoint);
  if (!isInHub || "path" in options) return await accepts(options);
  return (await readFile(logPath, "utf8")).split("\n").includes(listeningLine(pid));
}

/** True when something accepts connections there. */
export async function accepts(endpoint: NetConnectOpts): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(endpoint);
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  const isAccepted = await promise;
  socket.destroy();
  return isAccepted;
}
