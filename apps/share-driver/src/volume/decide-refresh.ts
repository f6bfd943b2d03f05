import type { KubeObject } from "@quartermaster/runtime";

import { filesOf, type Payload, payloadOf } from "../payload.ts";
import { Refusal } from "../refusal.ts";
import { type PublishDecision, sourceOf, type VolumeSource } from "./decide-publish.ts";
import type { ShareAccess } from "./observe-volume.ts";

/** A source of a volume with the newest state of its object. */
export interface NewestSource {
  readonly source: VolumeSource;
  readonly object: KubeObject;
}

/** Sources whose object changed since its content was written. Only for these is access reviewed. */
export function changedSources(newest: readonly NewestSource[]): readonly VolumeSource[] {
  return newest
    .filter(({ source, object }) => source.version !== object.metadata.resourceVersion)
    .map(({ source }) => source);
}

/** New content of a volume, and the Shares that keep what they had. */
export interface RefreshDecision extends PublishDecision {
  /** Shares with newer content that the pod may no longer have. */
  readonly denied: readonly string[];
}

export interface RefreshFacts {
  readonly newest: readonly NewestSource[];
  /** Access to the Shares of the changed sources, reviewed after `newest` was read. */
  readonly access: readonly ShareAccess[];
  /** Files that the volume holds. */
  readonly held: Payload;
}

/**
 * Decides the content of a running pod's volume after one of its objects changed. A pod gets new content only while its account may use the Share
 * and the Share names the same object; otherwise the files it has stay. Throws a Refusal when no source may change.
 */
export function decideRefresh({ newest, access, held }: RefreshFacts): RefreshDecision {
  const changed = new Set(changedSources(newest).map(({ share }) => share));
  const denied = newest.flatMap(({ source }) =>
    changed.has(source.share) && !isOffered(source, access) ? [source.share] : [],
  );
  if (denied.length === changed.size)
    throw new Refusal("Forbidden", `the pod may no longer use Share "${denied[0] ?? ""}"; its files stay`);
  const isDenied = new Set(denied);
  return {
    denied,
    sources: newest.map(({ source, object }) =>
      isDenied.has(source.share) ? source : sourceOf(source.share, source.backing, object),
    ),
    payload: payloadOf(
      newest.map(({ source: { share, keys }, object }) => ({
        share,
        files: isDenied.has(share) ? filesNamed(keys, held) : filesOf(object),
      })),
    ),
  };
}

function isOffered({ share, backing }: VolumeSource, access: readonly ShareAccess[]): boolean {
  const found = access.find(({ name }) => name === share);
  if (found?.isPermitted !== true || found.backing === undefined) return false;
  const { kind, namespace, name } = found.backing;
  return kind === backing.kind && namespace === backing.namespace && name === backing.name;
}

function filesNamed(keys: readonly string[], held: Payload): readonly (readonly [string, Buffer])[] {
  return keys.flatMap((key) => {
    const bytes = held.get(key);
    return bytes === undefined ? [] : [[key, bytes] as const];
  });
}
