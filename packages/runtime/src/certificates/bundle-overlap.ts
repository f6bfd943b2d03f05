import { certificatesIn, readCertificate } from "./read-certificate.ts";

/** CAs as they are published. */
export interface PublishedCa {
  /** PEM. */
  readonly pem: string;
  /** Those that leave, by fingerprint, with the moment from which they are trusted no more. */
  readonly leavingMs: ReadonlyMap<string, number>;
}

export interface OverlapQuery {
  /** The CAs that count now; PEM. */
  readonly sourcePem: string;
  readonly published: PublishedCa;
  readonly nowMs: number;
  /** How long a CA stays trusted after it has left the source. */
  readonly overlapMs: number;
}

export interface Overlap extends PublishedCa {
  /** Undefined when nothing is removed. */
  readonly nextMs: number | undefined;
}

/**
 * The CAs to publish: all of the source, and those removed from it, for as long as a replica may still serve with a
 * certificate of theirs. Replicas see a new source at different times, so none undoes what another has published: what the source
 * of one does not name is removed later, when its time has come. Pure.
 */
export function bundleOverlap({ sourcePem, published, nowMs, overlapMs }: OverlapQuery): Overlap {
  const source = byFingerprint(sourcePem);
  const all = new Map([...source, ...byFingerprint(published.pem)]);
  const leavingMs = new Map<string, number>();
  for (const fingerprint of all.keys()) {
    const dueMs = published.leavingMs.get(fingerprint);
    if (dueMs !== undefined && dueMs > nowMs) leavingMs.set(fingerprint, dueMs);
    else if (!source.has(fingerprint)) {
      if (dueMs === undefined) leavingMs.set(fingerprint, nowMs + overlapMs);
      else all.delete(fingerprint);
    }
  }
  const nextMs = leavingMs.size === 0 ? undefined : Math.min(...leavingMs.values());
  return { pem: inFixedOrder(all).join(""), leavingMs, nextMs };
}

/** Replicas with different sources must not write the same CAs in turns. */
function inFixedOrder(all: ReadonlyMap<string, string>): readonly string[] {
  return [...all].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, pem]) => pem);
}

function byFingerprint(pem: string): ReadonlyMap<string, string> {
  const found = certificatesIn(pem).map((text) => [readCertificate(text)?.fingerprint, text] as const);
  return new Map(found.filter((each): each is [string, string] => each[0] !== undefined));
}
