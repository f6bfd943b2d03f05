import { MAX_PAYLOAD_BYTES } from "../payload.ts";
import { Refusal } from "../refusal.ts";
import type { VolumePod } from "./volume-request.ts";

/** Memory that a volume takes: its content is memory of the node, outside of the pod's own limit. */
export interface VolumeUse {
  readonly pod: Pick<VolumePod, "namespace" | "uid">;
  readonly sizeBytes: number;
}

/** Largest number of volumes, and of bytes in them. */
interface Limit {
  readonly volumes: number;
  readonly sizeBytes: number;
}

/** A pod needs one volume for keys and one for repositories; the rest is room for hand-written ones. */
const podLimit: Limit = { volumes: 16, sizeBytes: MAX_PAYLOAD_BYTES };
/** A node runs 110 pods by default. */
const nodeLimit: Limit = { volumes: 1024, sizeBytes: 512 * 1024 * 1024 };
/** One tenant leaves the others half of the node. */
const namespaceLimit: Limit = { volumes: nodeLimit.volumes / 2, sizeBytes: nodeLimit.sizeBytes / 2 };

/** The limits, for tests and messages. */
export const limits = { pod: podLimit, namespace: namespaceLimit, node: nodeLimit };

/** Throws a Refusal when the volume would exceed what its pod, its namespace or the node may hold. `others` are all other volumes of the node. */
export function assertNodeRoom(volume: VolumeUse, others: Iterable<VolumeUse>): void {
  const all = [...others];
  const { uid, namespace } = volume.pod;
  const scopes = [
    { name: "the pod", limit: podLimit, uses: all.filter(({ pod }) => pod.uid === uid) },
    {
      name: "the namespace on this node",
      limit: namespaceLimit,
      uses: all.filter(({ pod }) => pod.namespace === namespace),
    },
    { name: "this node", limit: nodeLimit, uses: all },
  ];
  for (const { name, limit, uses } of scopes) {
    const sizeBytes = uses.reduce((sum, use) => sum + use.sizeBytes, volume.sizeBytes);
    if (uses.length < limit.volumes && sizeBytes <= limit.sizeBytes) continue;
    const mebibytes = limit.sizeBytes / 1024 / 1024;
    throw new Refusal(
      "TooManyVolumes",
      `Share volumes of ${name} are limited to ${limit.volumes}, with ${mebibytes} MiB in total`,
    );
  }
}
