import { SERVICE_CIDR } from "../control-plane/api-server-arguments.ts";
import type { System } from "../system/system.ts";
import { hubCommands, hubLink, nodeCommands, plugNodeCommands, serviceRouteCommand } from "./hub-commands.ts";
import { makeNetworkNamespace, networkNamespaceFile } from "./namespaces.ts";
import { runTool } from "./run-tool.ts";

/** Name of the namespace in which the control plane and the name server run. */
export const HUB = "hub";

/** Makes the hub's namespace and the bridge in it. Returns the namespace's file. */
export async function makeHub(folder: string, system: System): Promise<string> {
  const hub = networkNamespaceFile(folder, HUB);
  await makeNetworkNamespace(hub, system);
  await configure(hub, hubCommands(), system);
  return hub;
}

/** A cluster's network: which nodes there will be. */
export interface NetworkRequest {
  readonly folder: string;
  readonly nodeNames: readonly string[];
}

/** Makes a namespace for each node and joins them at the hub, in the order of their names. */
export async function joinNodes({ folder, nodeNames }: NetworkRequest, system: System): Promise<void> {
  const hub = networkNamespaceFile(folder, HUB);
  const count = nodeNames.length;
  for (const [position, name] of nodeNames.entries()) {
    const namespace = networkNamespaceFile(folder, name);
    await makeNetworkNamespace(namespace, system);
    await configure(hub, plugNodeCommands(position + 1, namespace), system);
    await configure(namespace, nodeCommands(position + 1, count), system);
  }
  await configure(hub, [serviceRouteCommand(SERVICE_CIDR, count)], system);
}

/** Pulls or plugs in the `index`th node's cable. */
export async function setNodeLink(
  folder: string,
  { index, state }: { readonly index: number; readonly state: "up" | "down" },
  system: System,
): Promise<void> {
  await configure(networkNamespaceFile(folder, HUB), [`link set ${hubLink(index)} ${state}`], system);
}

async function configure(
  networkNamespace: string,
  commands: readonly string[],
  system: System,
): Promise<void> {
  await runTool(
    { command: "ip", args: ["-batch", "-"], input: `${commands.join("\n")}\n`, networkNamespace },
    system,
  );
}
