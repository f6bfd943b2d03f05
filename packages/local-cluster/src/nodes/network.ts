import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { SERVICE_CIDR } from "../control-plane/api-server-arguments.ts";
import type { System } from "../system/system.ts";
import { runTool } from "./run-tool.ts";

/** Name of the namespace in which the control plane and the name server run. */
export const HUB = "hub";

/** Makes the hub's namespace and the bridge in it. Returns the namespace's file. */
export async function makeHub(directory: string, system: System): Promise<string> {
  const hub = networkNamespaceFile(directory, HUB);
  await makeNetworkNamespace(hub, system);
  await configure(hub, hubCommands(), system);
  return hub;
}

/** A cluster's network: which nodes there will be. */
export interface NetworkRequest {
  readonly directory: string;
  readonly nodeNames: readonly string[];
}

/** Makes a namespace for each node and joins them at the hub, in the order of their names. */
export async function joinNodes({ directory, nodeNames }: NetworkRequest, system: System): Promise<void> {
  const hub = networkNamespaceFile(directory, HUB);
  const count = nodeNames.length;
  for (const [position, name] of nodeNames.entries()) {
    const namespace = networkNamespaceFile(directory, name);
    await makeNetworkNamespace(namespace, system);
    await configure(hub, plugNodeCommands(position + 1, namespace), system);
    await configure(namespace, nodeCommands(position + 1, count), system);
  }
  await configure(hub, [serviceRouteCommand(SERVICE_CIDR, count)], system);
}

/** Pulls or plugs in the `index`th node's cable. */
export async function setNodeLink(
  directory: string,
  { index, state }: { readonly index: number; readonly state: "up" | "down" },
  system: System,
): Promise<void> {
  await configure(networkNamespaceFile(directory, HUB), [`link set ${hubLink(index)} ${state}`], system);
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

/** File that stands for a network namespace of the cluster; entered with `nsenter --net=`. */
export function networkNamespaceFile(directory: string, name: string): string {
  return join(directory, "ns", `${name}.net`);
}

/** File that stands for a mount namespace of the cluster; entered with `nsenter --mount=`. */
export function mountNamespaceFile(directory: string, name: string): string {
  return join(directory, "ns", `${name}.mnt`);
}

/**
 * Makes the directory that the namespaces' files lie in. It is a mount of its own that is shared with no one: the kernel keeps
 * no file of a mount namespace in a shared one, and a desktop would copy our mounts into every service it runs.
 */
export async function openNamespaceDirectory(directory: string, system: System): Promise<void> {
  const path = join(directory, "ns");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  await runTool({ command: "mount", args: ["--no-mtab", "--bind", "--make-private", path, path] }, system);
}

/** Makes a network namespace that has nothing but a loopback, and lets it forward packets. */
async function makeNetworkNamespace(file: string, system: System): Promise<void> {
  writeFileSync(file, "");
  await runTool({ command: "unshare", args: [`--net=${file}`, "--", "sh", "-ec", FORWARD_PACKETS] }, system);
}

/** The second one lets a route over several nodes avoid those that do not respond; not every kernel has such routes. */
const FORWARD_PACKETS = `
echo 1 > /proc/sys/net/ipv4/ip_forward
if [ -e /proc/sys/net/ipv4/fib_multipath_use_neigh ]; then echo 1 > /proc/sys/net/ipv4/fib_multipath_use_neigh; fi`;

/** A directory of the machine that a node sees as it is, while what it writes there goes to a directory of the cluster. */
export interface Overlay {
  readonly path: string;
  readonly upper: string;
  readonly work: string;
}

/** A directory of the cluster that a node sees in a second place, which lies on one of its overlays. */
export interface Bind {
  readonly from: string;
  readonly to: string;
}

export interface NodeMounts {
  readonly overlays: readonly Overlay[];
  readonly binds: readonly Bind[];
}

/** Makes a mount namespace with these mounts. They are seen by no one else and end with the last process in it. */
export async function makeMountNamespace(
  file: string,
  { overlays, binds }: NodeMounts,
  system: System,
): Promise<void> {
  const directories = [
    ...overlays.flatMap(({ upper, work }) => [upper, work]),
    ...binds.map(({ from }) => from),
  ];
  for (const path of directories) mkdirSync(path, { recursive: true });
  writeFileSync(file, "");
  const args = [
    ...overlays.flatMap(({ path, upper, work }) => [
      path,
      `lowerdir=${path},upperdir=${upper},workdir=${work}`,
    ]),
    "--",
    ...binds.flatMap(({ from, to }) => [from, to]),
  ];
  await runTool(
    {
      command: "unshare",
      args: [`--mount=${file}`, "--propagation=private", "--", "sh", "-ec", MAKE_MOUNTS, "sh", ...args],
    },
    system,
  );
}

/** Shared at the end, among the node's own processes: a pod may request to see mounts made after it started. */
const MAKE_MOUNTS = `
while [ "$1" != "--" ]; do mount --no-mtab -t overlay -o "$2" overlay "$1"; shift 2; done
shift
while [ $# -gt 0 ]; do mkdir -p "$2"; mount --no-mtab --bind "$1" "$2"; shift 2; done
mount --no-mtab --make-rshared /`;

/** Where the API server and the name server are: one address on the bridge that joins all nodes. */
export const HUB_ADDRESS = "172.30.0.1";
/** Port of the API server inside the cluster. */
export const API_PORT = 6443;
/** ClusterIP of the name server, which every pod uses. */
export const DNS_SERVICE_ADDRESS = "10.96.0.10";
/** Pods get their addresses from here, a /24 for each node. */
export const POD_CIDR = "10.244.0.0/16";
/** Nodes have an address and a pod network each; this is how many fit. */
export const MAX_NODES = 200;

/** Address of the `index`th node, counted from 1. */
export function nodeAddress(index: number): string {
  return `172.30.0.${10 + index}`;
}

/** Addresses of the pods on the `index`th node. */
export function podSubnet(index: number): string {
  return `10.244.${index}.0/24`;
}

/** The node's end of the cable in the hub. Interface names are limited to 15 characters. */
export function hubLink(index: number): string {
  return `node${index}`;
}

/**
 * Commands for `ip -batch` that make an empty namespace the hub. There is no link to the machine's own network: nothing
 * that happens in the cluster can leave it.
 */
export function hubCommands(): readonly string[] {
  return [
    "link set lo up",
    `link add ${BRIDGE} type bridge`,
    `address add ${HUB_ADDRESS}/24 dev ${BRIDGE}`,
    `link set ${BRIDGE} up`,
  ];
}

export function plugNodeCommands(index: number, nodeNamespace: string): readonly string[] {
  return [
    `link add ${hubLink(index)} type veth peer name eth0 netns ${nodeNamespace}`,
    `link set ${hubLink(index)} master ${BRIDGE}`,
    `link set ${hubLink(index)} up`,
    `route add ${podSubnet(index)} via ${nodeAddress(index)}`,
  ];
}

/** Commands for `ip -batch` in the node's namespace. Pods of other nodes are reached directly, all else by way of the hub. */
export function nodeCommands(index: number, count: number): readonly string[] {
  const others = indexes(count).filter((other) => other !== index);
  return [
    "link set lo up",
    `address add ${nodeAddress(index)}/24 dev eth0`,
    "link set eth0 up",
    `route add default via ${HUB_ADDRESS}`,
    ...others.map((other) => `route add ${podSubnet(other)} via ${nodeAddress(other)}`),
  ];
}

/** How the API server reaches Services (a webhook in a pod): over any node, because each runs a kube-proxy. */
export function serviceRouteCommand(serviceCidr: string, count: number): string {
  if (count === 1) return `route replace ${serviceCidr} via ${nodeAddress(1)}`;
  return `route replace ${serviceCidr} ${indexes(count)
    .map((index) => `nexthop via ${nodeAddress(index)}`)
    .join(" ")}`;
}

const BRIDGE = "cluster";

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
