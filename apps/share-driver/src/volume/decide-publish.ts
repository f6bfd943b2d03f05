import type { KubeObject } from "@quartermaster/runtime";

import { type BackingRef, filesOf, type Payload, payloadOf } from "../payload.ts";
import { Refusal } from "../refusal.ts";
import type { SeenShare } from "./observe-volume.ts";
import type { VolumePod } from "./volume-request.ts";

/** A Share of a volume with the object that it named when the volume was published. */
export interface VolumeSource {
  readonly share: string;
  readonly backing: BackingRef;
  /** resourceVersion of the object whose content the volume holds. */
  readonly version: string;
  /** Names of the files that come from this Share. */
  readonly keys: readonly string[];
}

/** Content of a volume, and the objects that it follows from then on. */
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
    sources: found.map(({ share, backing, object }) => sourceOf(share, backing, object)),
    payload: payloadOf(found.map(({ share, object }) => ({ share, files: filesOf(object) }))),
  };
}

/** The source of a volume that holds the content of this object. */
export function sourceOf(
  share: string,
  { kind, namespace, name }: BackingRef,
  object: KubeObject,
): VolumeSource {
  return {
    share,
    backing: { kind, namespace, name },
    version: object.metadata.resourceVersion ?? "",
    keys: filesOf(object).map(([key]) => key),
  };
}

function forbidden({ namespace, serviceAccount }: VolumePod, share: string): Refusal {
  const account = `service account "${serviceAccount}" in namespace "${namespace}"`;
  return new Refusal("Forbidden", `${account} is not permitted to use Share "${share}"`);
}
