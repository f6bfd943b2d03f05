import { digestOf } from "@quartermaster/runtime";
import { type CertificateFacts, readCertificate } from "@quartermaster/runtime/certificates";

import type { TlsLayer } from "../engine/engine-client.ts";
import type { ServedCertificates } from "../engine/engine-facts.ts";
import { distributionFacts } from "../model/distribution-facts.ts";
import type { Seen } from "../seen.ts";

export interface ServedFacts {
  /** Changes with each renewal; in the status once every node was seen with it. */
  readonly digest: string;
  /** When the younger of the two was issued, by its own word. */
  readonly notBeforeMs: number;
  /** Nodes that use both certificates as they are written now. */
  readonly current: readonly string[];
  /** Nodes that are known to use another one. */
  readonly stale: readonly StaleNode[];
  /** Nodes without a report. */
  readonly unknown: readonly string[];
  /** There are nodes, and each of them is current. */
  readonly isProven: boolean;
}

/** A node, and what it has to read again. */
export interface StaleNode {
  readonly node: string;
  readonly layers: readonly TlsLayer[];
}

type Known = Pick<Seen, "cluster" | "material" | "status">;

/** Compares the certificates of nodes with those in the Secrets; undefined where nodes do not reload. */
export function servedCertificates(seen: Known & Pick<Seen, "pods" | "engine">): ServedFacts | undefined {
  const written = writtenCertificates(seen);
  if (written === undefined || seen.status.clusterUuid === undefined) return undefined;
  const nodes = seen.pods.filter(({ isTerminating }) => !isTerminating).map(({ name }) => name);
  const observations = nodes.map((node) => ({ node, fact: seen.engine.served.get(node) }));
  const reported = observations.flatMap(({ node, fact }) =>
    fact?.isKnown === true ? [{ node, layers: staleLayers(fact.value, written) }] : [],
  );
  const current = reported.filter(({ layers }) => layers.length === 0).map(({ node }) => node);
  return {
    digest: written.digest,
    notBeforeMs: Math.max(written.http.validity.notBeforeMs, written.transport.validity.notBeforeMs),
    current,
    stale: reported.filter(({ layers }) => layers.length > 0),
    unknown: observations.filter(({ fact }) => fact?.isKnown !== true).map(({ node }) => node),
    isProven: nodes.length > 0 && current.length === nodes.length,
  };
}

/** Whether nodes have to be queried for the certificates that they use: the status does not say yet that all have the present ones. */
export function needsServedCertificates(known: Known): boolean {
  if (known.status.clusterUuid === undefined) return false;
  const written = writtenCertificates(known);
  return written !== undefined && written.digest !== known.status.certificates?.served;
}

interface WrittenCertificates {
  readonly digest: string;
  readonly http: CertificateFacts;
  readonly transport: CertificateFacts;
}

/**
 * The certificates in the Secrets that nodes mount. Elasticsearch follows its files without a request. Without TLS for clients no one may request a
 * reload, because only an administrator by certificate may. A key of another certificate would be the end of a node: such a Secret
 * has no pair, and nothing is requested.
 */
function writtenCertificates({ cluster, material }: Known): WrittenCertificates | undefined {
  const { security, distribution } = cluster;
  const { hasSecurityPlugin } = distributionFacts[distribution];
  if (!hasSecurityPlugin || !security.isEnabled || !security.http.isEnabled) return undefined;
  const [http, transport] = (["http", "transport"] as const).map((layer) => {
    const { pair } = security[layer].isGenerated
      ? { pair: material.certificates.get(layer)?.pair }
      : { pair: material.supplied.get(layer) };
    return readCertificate(pair?.certificatePem ?? "");
  });
  if (http === undefined || transport === undefined) return undefined;
  const digest = digestOf([http.fingerprint, transport.fingerprint]).slice(0, 32);
  return { digest, http, transport };
}

function staleLayers(
  served: ServedCertificates,
  { http, transport }: Pick<WrittenCertificates, "http" | "transport">,
): readonly TlsLayer[] {
  const isHttpStale = served.http !== http.fingerprint;
  // Where no one tells, both files come with the same volume: what is known of one is the best guess for the other.
  const isTransportStale =
    served.transportEndMs === undefined
      ? isHttpStale
      : served.transportEndMs !== transport.validity.notAfterMs;
  return [...(isHttpStale ? (["http"] as const) : []), ...(isTransportStale ? (["transport"] as const) : [])];
}
