import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { System } from "../system/system.ts";
import { runTool } from "./run-tool.ts";

/** File that stands for a network namespace of the cluster; entered with `nsenter --net=`. */
export function networkNamespaceFile(folder: string, name: string): string {
  return join(folder, "ns", `${name}.net`);
}

/** File that stands for a mount namespace of the cluster; entered with `nsenter --mount=`. */
export function mountNamespaceFile(folder: string, name: string): string {
  return join(folder, "ns", `${name}.mnt`);
}

/**
 * Makes the folder that the namespaces' files lie in. It is a mount of its own that is shared with nobody: the kernel keeps
 * no file of a mount namespace in a shared one, and a desktop would copy our mounts into every service it runs.
 */
export async function openNamespaceFolder(folder: string, system: System): Promise<void> {
  const path = join(folder, "ns");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  await runTool({ command: "mount", args: ["--no-mtab", "--bind", "--make-private", path, path] }, system);
}

/** Makes a network namespace that has nothing but a loopback, and lets it forward packets. */
export async function makeNetworkNamespace(file: string, system: System): Promise<void> {
  writeFileSync(file, "");
  await runTool({ command: "unshare", args: [`--net=${file}`, "--", "sh", "-ec", FORWARD_PACKETS] }, system);
}

/** The second one lets a route over several nodes avoid those that do not answer; not every kernel has such routes. */
const FORWARD_PACKETS = `
echo 1 > /proc/sys/net/ipv4/ip_forward
if [ -e /proc/sys/net/ipv4/fib_multipath_use_neigh ]; then echo 1 > /proc/sys/net/ipv4/fib_multipath_use_neigh; fi`;

/** A folder of the machine that a node sees as it is, while what it writes there goes to a folder of the cluster. */
export interface Overlay {
  readonly path: string;
  readonly upper: string;
  readonly work: string;
}

/** A folder of the cluster that a node sees in a second place, which lies on one of its overlays. */
export interface Bind {
  readonly from: string;
  readonly to: string;
}

/** What a node sees differently from the machine. */
export interface NodeMounts {
  readonly overlays: readonly Overlay[];
  readonly binds: readonly Bind[];
}

/** Makes a mount namespace with these mounts. They are seen by nobody else and end with the last process in it. */
export async function makeMountNamespace(
  file: string,
  { overlays, binds }: NodeMounts,
  system: System,
): Promise<void> {
  const folders = [...overlays.flatMap(({ upper, work }) => [upper, work]), ...binds.map(({ from }) => from)];
  for (const path of folders) mkdirSync(path, { recursive: true });
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

/** Shared at the end, among the node's own processes: a pod may ask to see mounts made after it started. */
const MAKE_MOUNTS = `
while [ "$1" != "--" ]; do mount --no-mtab -t overlay -o "$2" overlay "$1"; shift 2; done
shift
while [ $# -gt 0 ]; do mkdir -p "$2"; mount --no-mtab --bind "$1" "$2"; shift 2; done
mount --no-mtab --make-rshared /`;
