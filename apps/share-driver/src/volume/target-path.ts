import { posix } from "node:path";

import { z } from "zod";

import { Refusal } from "../refusal.ts";

/** A place below kubelet's directory where a volume of ours is mounted. */
export interface TargetPath {
  readonly path: string;
  readonly podUid: string;
}

/**
 * Accepts the paths that kubelet gives to CSI volumes, `<kubelet>/pods/<uid>/volumes/kubernetes.io~csi/<volume>/mount`, and nothing
 * else: a caller of the socket must not have file systems mounted or unmounted elsewhere.
 */
export function parseTarget(path: string, kubeletDirectory: string): TargetPath {
  const [empty, ...names] = path.startsWith(`${kubeletDirectory}/`)
    ? path.slice(kubeletDirectory.length).split("/")
    : [];
  const [pods, podUid = "", volumes, plugin, volume = "", mount, ...rest] = names;
  const isShaped =
    empty === "" &&
    [pods, volumes, plugin, mount].join() === ["pods", "volumes", "kubernetes.io~csi", "mount"].join() &&
    rest.length === 0;
  if (!isShaped || !isPlainName(podUid) || !isPlainName(volume) || posix.normalize(path) !== path)
    throw new Refusal("InvalidRequest", "the target path is not one of kubelet's for CSI volumes");
  return { path, podUid };
}

function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9][-A-Za-z0-9._]{0,252}$/.test(name);
}

const unpublish = z.object({ volumeId: z.string().default(""), targetPath: z.string().default("") });

/** Reads a NodeUnpublishVolumeRequest. */
export function parseUnpublish(
  request: unknown,
  kubeletDirectory: string,
): { readonly volumeId: string; readonly target: string } {
  const { volumeId, targetPath } = unpublish.parse(request);
  if (volumeId === "") throw new Refusal("InvalidRequest", "the request has no volume id");
  return { volumeId, target: parseTarget(targetPath, kubeletDirectory).path };
}
