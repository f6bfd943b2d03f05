import { type BackingRef, type Payload, payloadOf } from "../payload.ts";
import { Refusal } from "../refusal.ts";
import type { SeenShare } from "./observe-volume.ts";
import type { VolumePod } from "./volume-request.ts";

/** A Share of a volume with the object that it stood for when the volume was published. */
export interface VolumeSource {
  readonly share: string;
  readonly backing: BackingRef;
}

/** What a volume is to contain, and what it follows from then on. */
export interface PublishDecision {
  readonly sources: readonly VolumeSource[];
  readonly payload: Payload;
}

/**
 * Decides what a new volume contains. Throws a Refusal, for the first Share that is in the way. Permission comes first: for an
 * account without it, a Share that exists looks like one that does not.
 */
export function decidePublish(pod: VolumePod, shares: readonly SeenShare[]): PublishDecision {
  const found = shares.map((seen) => {
    const { name, isPermitted, backing, object } = seen;
    if (!isPermitted) throw forbidden(pod, name);
    if (backing === undefined) throw new Refusal("ShareNotFound", `Share "${name}" not found`);
    if (object === undefined)
      throw new Refusal("BackingObjectNotFound", `the ${backing.kind} behind Share "${name}" does not exist`);
    return { share: name, backing, object };
  });
  return {
    sources: found.map(({ share, backing: { kind, namespace, name } }) => ({
      share,
      backing: { kind, namespace, name },
    })),
    payload: payloadOf(found),
  };
}

function forbidden({ namespace, serviceAccount }: VolumePod, share: string): Refusal {
  const account = `service account "${serviceAccount}" in namespace "${namespace}"`;
  return new Refusal("Forbidden", `${account} is not permitted to use Share "${share}"`);
}
