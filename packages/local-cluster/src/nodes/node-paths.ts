import { join } from "node:path";

import { LocalClusterError } from "../errors.ts";
import { clusterCgroup } from "./cgroups.ts";
import { type Bind, mountNamespaceFile, networkNamespaceFile, type Overlay } from "./network.ts";

/** Where everything of one node lies. All of it is below the cluster's directory, except for the cgroups. */
export interface NodePaths {
  readonly root: string;
  readonly networkNamespace: string;
  readonly mountNamespace: string;
  /** cgroup of the node's pods; `kubelet` wants it to exist. */
  readonly cgroup: string;
  /** cgroup of the node's own processes: a cgroup that has groups below it may hold none itself (cgroup v2). */
  readonly systemCgroup: string;
  readonly containerdConfig: string;
  readonly containerdSocket: string;
  readonly containerdRoot: string;
  readonly containerdState: string;
  readonly runcRoot: string;
  readonly cniConfigDirectory: string;
  readonly cniState: string;
  readonly kubeletConfig: string;
  /** Where kubelet's files lie on the machine. */
  readonly kubeletData: string;
  /** The same directory as the node sees it: kubelet's `--root-dir`. */
  readonly kubeletRoot: string;
  readonly kubeProxyConfig: string;
  readonly podLogs: string;
  readonly resolvConf: string;
  /** Data of the volumes that were provisioned on this node. */
  readonly volumes: string;
}

/** The paths of the node called `name`. */
export function nodePaths(directory: string, name: string): NodePaths {
  const root = join(directory, "nodes", name);
  const cgroup = join(clusterCgroup(directory), name);
  return {
    root,
    networkNamespace: networkNamespaceFile(directory, name),
    mountNamespace: mountNamespaceFile(directory, name),
    cgroup,
    systemCgroup: join(cgroup, "system"),
    containerdConfig: join(root, "containerd.toml"),
    containerdSocket: checkedSocket(join(root, "containerd.sock")),
    containerdRoot: join(root, "containerd"),
    containerdState: join(root, "run"),
    runcRoot: join(root, "runc"),
    cniConfigDirectory: join(root, "cni"),
    cniState: join(root, "cni-state"),
    kubeletConfig: join(root, "kubelet.yaml"),
    kubeletData: join(root, "kubelet"),
    kubeletRoot: isOverlaid(directory, "/var/lib") ? KUBELET_ROOT : join(root, "kubelet"),
    kubeProxyConfig: join(root, "kube-proxy.yaml"),
    podLogs: join(root, "pod-logs"),
    resolvConf: join(root, "resolv.conf"),
    volumes: volumesDirectory(directory, name),
  };
}

/**
 * kubelet's usual root. DaemonSets of CSI drivers name it, and the sockets of their plugins below it stay within the kernel's
 * limit for the path of a unix socket.
 */
const KUBELET_ROOT = "/var/lib/kubelet";

/** Where the volumes of a node keep their data. */
export function volumesDirectory(directory: string, node: string): string {
  return join(directory, "nodes", node, "volumes");
}

/**
 * Directories of the machine in which containerd, the CNI plugins and kubelet write to paths that no setting moves (shim
 * sockets in /run/containerd, results in /var/lib/cni, links in /var/log/containers, the device plugins' socket in
 * /var/lib/kubelet). A directory that holds the cluster itself cannot be overlaid and is left as it is.
 */
export function nodeOverlays(directory: string, name: string): readonly Overlay[] {
  return ["/run", "/var/lib", "/var/log"]
    .filter((path) => isOverlaid(directory, path))
    .map((path) => {
      const own = join(directory, "nodes", name, "overlay", path.slice(1).replaceAll("/", "-"));
      return { path, upper: join(own, "upper"), work: join(own, "work") };
    });
}

function isOverlaid(directory: string, path: string): boolean {
  return !directory.startsWith(`${path}/`);
}

/** The directories that a node sees in another place: kubelet's, unless /var/lib holds the cluster itself. */
export function nodeBinds({ kubeletData, kubeletRoot }: NodePaths): readonly Bind[] {
  return kubeletData === kubeletRoot ? [] : [{ from: kubeletData, to: kubeletRoot }];
}

/** The path of a unix socket; throws when the kernel would not take it. */
export function checkedSocket(path: string): string {
  if (Buffer.byteLength(path) + TTRPC_SUFFIX_BYTES <= SOCKET_PATH_LIMIT_BYTES) return path;
  throw new LocalClusterError(
    "PathTooLong",
    `The path ${path} is too long for a socket.`,
    "Choose a directory with a shorter path for the cluster.",
  );
}

/** containerd puts a second socket beside its first: the same name and `.ttrpc`. */
const TTRPC_SUFFIX_BYTES = 6;

/** The kernel's limit for the path of a unix socket, in bytes, without the closing zero. */
const SOCKET_PATH_LIMIT_BYTES = 107;
/** The longest name of a socket that we make below a cluster's directory. */
const LONGEST_SOCKET = "etcd-stale-relay.sock";

/** Throws PathTooLong when our sockets would not fit below `directory`. */
export function assertSocketsFit(directory: string): void {
  const lengthBytes = Buffer.byteLength(join(directory, LONGEST_SOCKET));
  if (lengthBytes <= SOCKET_PATH_LIMIT_BYTES) return;
  throw new LocalClusterError(
    "PathTooLong",
    `The directory ${directory} is too deep: a unix socket's path may have ${SOCKET_PATH_LIMIT_BYTES} bytes, and ours would have ${lengthBytes}.`,
    "Choose a directory with a shorter path.",
  );
}
