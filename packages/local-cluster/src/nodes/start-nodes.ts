import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { Component } from "../control-plane/component.ts";
import { writePauseImage } from "../images/pause-image.ts";
import type { System } from "../system/system.ts";
import { DNS_USER, nodeObjects } from "./cluster-objects.ts";
import { desiredCorefile } from "./corefile.ts";
import { HUB_ADDRESS } from "./hub-commands.ts";
import { isDnsReady } from "./is-node-ready.ts";
import { networkNamespaceFile, openNamespaceFolder } from "./namespaces.ts";
import { HUB, joinNodes, makeHub } from "./network.ts";
import { type NodeSpec, numberNodes } from "./node-specs.ts";
import { type NodeHandle, type NodeSurroundings, startNode } from "./node.ts";

/** The place where the control plane of a cluster with real nodes runs. */
export interface Hub {
  readonly networkNamespace: string;
  /** The API server's address as the nodes see it. */
  readonly address: string;
}

/** Makes the namespace that the control plane is to be started in. */
export async function openHub(folder: string, system: System): Promise<Hub> {
  await openNamespaceFolder(folder, system);
  return { networkNamespace: await makeHub(folder, system), address: HUB_ADDRESS };
}

/** What nodes are started with. */
export interface NodesOptions extends NodeSurroundings {
  readonly nodes: readonly NodeSpec[];
  readonly corednsPath: string;
}

/** Starts the nodes and the name server of a cluster whose control plane runs in the hub. Resolves when all are Ready. */
export async function startNodes(options: NodesOptions): Promise<readonly NodeHandle[]> {
  const { folder, api, system } = options;
  const nodes = numberNodes(options.nodes);
  const [pause] = await Promise.all([
    writePauseImage(join(folder, "images", "pause")),
    joinNodes({ folder, nodeNames: nodes.map(({ name }) => name) }, system),
    ...nodeObjects().map(async ({ path, object }) => await api.apply(path, object)),
  ]);
  const images = [pause.folder, ...options.images];
  const [handles] = await Promise.all([
    Promise.all(nodes.map(async (node) => await startNode(node, { ...options, images }))),
    startNameServer(options),
  ]);
  return handles;
}

async function startNameServer({
  folder,
  corednsPath,
  kubeconfigFor,
  system,
  signal,
}: NodesOptions): Promise<void> {
  const corefile = join(folder, "Corefile");
  writeFileSync(corefile, desiredCorefile(await kubeconfigFor(DNS_USER, [])));
  const networkNamespace = networkNamespaceFile(folder, HUB);
  const server = new Component({
    launchRequest: {
      name: "coredns",
      folder,
      command: corednsPath,
      args: [`-conf=${corefile}`],
      networkNamespace,
    },
    isReady: async () => await isDnsReady(folder, system),
    system,
  });
  await server.ready(signal);
}
