import { accessSync, constants, existsSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { ProgressReport } from "../assets/progress.ts";
import { LocalClusterError } from "../errors.ts";
import { findStaticBusybox } from "../images/busybox-image.ts";
import { type System, toolPath } from "../system/system.ts";
import { cgroupHierarchies } from "./cgroups.ts";
import { type ToolResult, tryTool } from "./run-tool.ts";

export interface MachineFacts {
  readonly isRoot: boolean;
  /** Tools of `NODE_TOOLS` that are not on the search path. */
  readonly missingTools: readonly string[];
  /** Directory that holds all CNI plugins we use, if there is one. */
  readonly cniPluginDirectory: string | undefined;
  readonly hasStaticBusybox: boolean;
  /** Of `KERNEL_FEATURES`, those that were tried in vain. Empty when they could not be tried: only root can. */
  readonly missingFeatures: readonly string[];
}

/** Something real nodes need and this machine does not have. */
export interface MissingPrerequisite {
  readonly what: string;
  readonly remedy: string;
  /** Debian's package that brings it, where there is one. */
  readonly packageName?: string;
}

/** Tools that nodes run or are made with, and Debian's packages of them. */
const NODE_TOOLS: Readonly<Record<string, string>> = {
  conntrack: "conntrack",
  containerd: "containerd",
  "containerd-shim-runc-v2": "containerd",
  ctr: "containerd",
  ip: "iproute2",
  mount: "mount",
  nft: "nftables",
  nsenter: "util-linux",
  runc: "runc",
  tar: "tar",
  umount: "mount",
  unshare: "util-linux",
};

/** CNI plugins that put pods into the network. */
const CNI_PLUGINS: readonly string[] = ["bridge", "host-local", "loopback"];

/** Required kernel features, in our words. */
const KERNEL_FEATURES: Readonly<Record<string, string>> = {
  bridge: "network bridges",
  cgroup: "writable cgroups",
  nftables: "nftables",
  overlay: "overlay file systems",
  veth: "veth links",
};

/** Decides what is missing, in a fixed order: rights, tools, kernel. */
export function missingPrerequisites(facts: MachineFacts): readonly MissingPrerequisite[] {
  return [
    ...(facts.isRoot ? [] : [{ what: "root", remedy: "run as root" }]),
    ...facts.missingTools.toSorted().map((tool) => missingPackage(tool, NODE_TOOLS[tool] ?? tool)),
    ...(facts.cniPluginDirectory === undefined
      ? [missingPackage("CNI plugins", "containernetworking-plugins")]
      : []),
    ...(facts.hasStaticBusybox ? [] : [missingPackage("a static busybox", "busybox-static")]),
    ...facts.missingFeatures.toSorted().map((feature) => ({
      what: KERNEL_FEATURES[feature] ?? feature,
      remedy: "use a kernel that has them, and a container that may use them",
    })),
  ];
}

/** One message for the user: what is missing, what to do, and what happens instead. */
export function describeMissing(missing: readonly MissingPrerequisite[]): string {
  const packages = packagesOf(missing);
  const remedies = missing.filter(({ packageName }) => packageName === undefined).map(({ remedy }) => remedy);
  const all = [...new Set(remedies), ...(packages.length === 0 ? [] : [installCommand(packages)])];
  return `Real nodes need what this machine lacks: ${missing.map(({ what }) => what).join(", ")}. To have them: ${all.join("; ")}. The control-plane profile is used instead: pods are simulated.`;
}

/** The packages that bring what is missing, each once, in alphabetical order. */
export function packagesOf(missing: readonly MissingPrerequisite[]): readonly string[] {
  return [...new Set(missing.flatMap(({ packageName }) => packageName ?? []))].toSorted();
}

export function installCommand(packages: readonly string[]): string {
  return `apt-get install ${packages.join(" ")}`;
}

function missingPackage(what: string, packageName: string): MissingPrerequisite {
  return { what, remedy: installCommand([packageName]), packageName };
}

/** Probes the machine for real nodes. Changes nothing; what it tries, it tries in namespaces that end with it. */
export async function probeMachine(parentDirectory: string, system: System): Promise<MachineFacts> {
  const isRoot = process.getuid?.() === 0;
  const missingTools = Object.keys(NODE_TOOLS).filter((tool) => !isOnPath(tool, system));
  const canTry = isRoot && ["ip", "mount", "nft", "unshare"].every((tool) => !missingTools.includes(tool));
  return {
    isRoot,
    missingTools,
    cniPluginDirectory: findCniPluginDirectory(),
    hasStaticBusybox: findStaticBusybox() !== undefined,
    missingFeatures: canTry ? await tryFeatures(parentDirectory, system) : [],
  };
}

/** The directory that holds all CNI plugins we use, if there is one. */
export function findCniPluginDirectory(): string | undefined {
  return CNI_DIRECTORIES.find((directory) =>
    CNI_PLUGINS.every((plugin) => existsSync(join(directory, plugin))),
  );
}

/** Where distributions put CNI plugins. */
const CNI_DIRECTORIES = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];

async function tryFeatures(parentDirectory: string, system: System): Promise<readonly string[]> {
  const name = `.probe-${system.randomHex(4)}`;
  const directory = join(parentDirectory, name);
  mkdirSync(directory, { recursive: true });
  try {
    const args = [
      "--net",
      "--mount",
      "--propagation=private",
      "--",
      "sh",
      "-c",
      TRY_FEATURES,
      "sh",
      directory,
    ];
    const { stdout } = await tryTool({ command: "unshare", args }, system);
    const found = new Set([
      ...stdout.split("\n"),
      ...(canMakeCgroup(`quartermaster${name}`) ? ["cgroup"] : []),
    ]);
    return Object.keys(KERNEL_FEATURES).filter((feature) => !found.has(feature));
  } finally {
    rmSync(directory, { recursive: true, force: true });
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
    // Read-only or forbidden: the response is no, whatever the reason.
    return false;
  }
  return hierarchies.length > 0;
}

function isOnPath(tool: string, system: System): boolean {
  return toolPath(system)
    .split(":")
    .some((directory) => isExecutable(join(directory, tool)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there or not ours to run: the next directory of the search path may have it.
    return false;
  }
}

export interface InstallRequest {
  readonly missing: readonly MissingPrerequisite[];
  readonly report: ProgressReport;
  readonly system: System;
}

/**
 * Installs with apt what packages can bring. Does nothing without root, without apt-get, or when no package is missing: the
 * caller checks again and reports what is still missing.
 */
export async function installPrerequisites({ missing, report, system }: InstallRequest): Promise<void> {
  const packages = packagesOf(missing);
  if (packages.length === 0 || process.getuid?.() !== 0) return;
  if ((await apt(["--version"], system)).code !== 0) return;
  report({ kind: "note", text: `installing ${packages.join(" ")} (apt-get)` });
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  if ((await apt(install, system)).code === 0) return;
  report({ kind: "note", text: "refreshing the list of packages (apt-get update)" });
  await apt(["update"], system);
  const { code, stderr } = await apt(install, system);
  if (code === 0) return;
  throw new LocalClusterError(
    "PrerequisiteMissing",
    `apt-get could not install ${packages.join(", ")}: ${stderr.trim().slice(-500)}.`,
    `Run: ${installCommand(packages)}`,
  );
}

async function apt(args: readonly string[], system: System): Promise<ToolResult> {
  return await tryTool(
    { command: "env", args: ["DEBIAN_FRONTEND=noninteractive", "apt-get", ...args], timeoutMs: 600_000 },
    system,
  );
}
