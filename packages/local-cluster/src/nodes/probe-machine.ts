import { accessSync, constants, existsSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { findStaticBusybox } from "../images/busybox-image.ts";
import type { System } from "../system/system.ts";
import { toolPath } from "../system/tool-path.ts";
import { cgroupHierarchies } from "./cgroups.ts";
import type { MachineFacts } from "./prerequisites.ts";
import { CNI_PLUGINS, KERNEL_FEATURES, NODE_TOOLS } from "./prerequisites.ts";
import { tryTool } from "./run-tool.ts";

/** Looks at what the machine offers to real nodes. Changes nothing; what it tries, it tries in namespaces that end with it. */
export async function probeMachine(parentFolder: string, system: System): Promise<MachineFacts> {
  const isRoot = process.getuid?.() === 0;
  const missingTools = Object.keys(NODE_TOOLS).filter((tool) => !isOnPath(tool, system));
  const canTry = isRoot && ["ip", "mount", "nft", "unshare"].every((tool) => !missingTools.includes(tool));
  return {
    isRoot,
    missingTools,
    cniPluginFolder: findCniPluginFolder(),
    hasStaticBusybox: findStaticBusybox() !== undefined,
    missingFeatures: canTry ? await tryFeatures(parentFolder, system) : [],
  };
}

/** The folder that holds all CNI plugins we use, if there is one. */
export function findCniPluginFolder(): string | undefined {
  return CNI_FOLDERS.find((folder) => CNI_PLUGINS.every((plugin) => existsSync(join(folder, plugin))));
}

/** Where distributions put CNI plugins. */
const CNI_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];

async function tryFeatures(parentFolder: string, system: System): Promise<readonly string[]> {
  const name = `.probe-${system.randomHex(4)}`;
  const folder = join(parentFolder, name);
  mkdirSync(folder, { recursive: true });
  try {
    const args = ["--net", "--mount", "--propagation=private", "--", "sh", "-c", TRY_FEATURES, "sh", folder];
    const { stdout } = await tryTool({ command: "unshare", args }, system);
    const found = new Set([
      ...stdout.split("\n"),
      ...(canMakeCgroup(`quartermaster${name}`) ? ["cgroup"] : []),
    ]);
    return Object.keys(KERNEL_FEATURES).filter((feature) => !found.has(feature));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Tried where the clusters will be: a file system may be unfit to be the upper layer of an overlay. */
const TRY_FEATURES = `
ip link add probe0 type bridge && echo bridge
ip link add probe1 type veth peer name probe2 && echo veth
nft add table ip probe && echo nftables
cd "$1" && mkdir lower upper work all && mount --no-mtab -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay all && echo overlay`;

function canMakeCgroup(name: string): boolean {
  const hierarchies = cgroupHierarchies();
  try {
    for (const hierarchy of hierarchies) {
      mkdirSync(join(hierarchy, name));
      rmdirSync(join(hierarchy, name));
    }
  } catch {
    // Read-only or forbidden: the answer is no, whatever the reason.
    return false;
  }
  return hierarchies.length > 0;
}

function isOnPath(tool: string, system: System): boolean {
  return toolPath(system)
    .split(":")
    .some((folder) => isExecutable(join(folder, tool)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there or not ours to run: the next folder of the search path may have it.
    return false;
  }
}
