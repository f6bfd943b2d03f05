/** What the machine offers to real nodes. */
export interface MachineFacts {
  readonly isRoot: boolean;
  /** Tools of `NODE_TOOLS` that are not on the search path. */
  readonly missingTools: readonly string[];
  /** Folder that holds all CNI plugins we use, if there is one. */
  readonly cniPluginFolder: string | undefined;
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
export const NODE_TOOLS: Readonly<Record<string, string>> = {
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
export const CNI_PLUGINS: readonly string[] = ["bridge", "host-local", "loopback"];

/** What the kernel must be able to do, in our words. */
export const KERNEL_FEATURES: Readonly<Record<string, string>> = {
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
    ...(facts.cniPluginFolder === undefined
      ? [missingPackage("CNI plugins", "containernetworking-plugins")]
      : []),
    ...(facts.hasStaticBusybox ? [] : [missingPackage("a static busybox", "busybox-static")]),
    ...facts.missingFeatures.toSorted().map((feature) => ({
      what: KERNEL_FEATURES[feature] ?? feature,
      remedy: "use a kernel that has them, and a container that may use them",
    })),
  ];
}

/** One message for the person: what is missing, what to do, and what happens instead. */
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

/** What a person types to install packages. */
export function installCommand(packages: readonly string[]): string {
  return `apt-get install ${packages.join(" ")}`;
}

function missingPackage(what: string, packageName: string): MissingPrerequisite {
  return { what, remedy: installCommand([packageName]), packageName };
}
