import { isWritePoint, type SeenRequest } from "../fault-proxy/seen-request.ts";

/** A write of the operator, named so that it is found again in another run. */
export interface WritePoint {
  /** Verb, resource and name, e.g. `patch configmaps a0`. */
  readonly key: string;
  /** Which of the writes of that name, from 1. */
  readonly occurrence: number;
}

/** Generated parts of names: hashes, uids, random suffixes. */
const generatedPart = /(?<=^|-)(?=[a-z0-9]*\d)[a-z0-9]{8,}(?=$|-)/g;

/** Name of a write without what differs between runs; undefined for requests that are no write points, e.g. access reviews. */
export function writePointKey(
  request: SeenRequest,
  aliases: Readonly<Record<string, string>>,
): string | undefined {
  const { verb, resource, subresource, name = "" } = request;
  if (!isWritePoint(request) || resource.endsWith("reviews") || resource === "tokenreviews") return undefined;
  const aliased = Object.entries(aliases).reduce((text, [from, to]) => text.replaceAll(from, to), name);
  const target = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${target} ${aliased.replaceAll(generatedPart, "*")}`.trim();
}

/** Write points of a run with their requests, in the order of their first occurrence. At most `limit` of each name: a retry adds nothing. */
export function writePointsOf<R extends SeenRequest>(
  trace: readonly R[],
  { aliases, limit = 3 }: { readonly aliases: Readonly<Record<string, string>>; readonly limit?: number },
): ReadonlyMap<WritePoint, R> {
  const counts = new Map<string, number>();
  const points = trace.flatMap((request): readonly (readonly [WritePoint, R])[] => {
    const key = writePointKey(request, aliases);
    if (key === undefined) return [];
    const occurrence = (counts.get(key) ?? 0) + 1;
    counts.set(key, occurrence);
    return occurrence > limit ? [] : [[{ key, occurrence }, request]];
  });
  return new Map(points);
}

/** Matches the one request of a run that a write point names. */
export function atWritePoint(
  { key, occurrence }: WritePoint,
  aliases: Readonly<Record<string, string>>,
): (request: SeenRequest) => boolean {
  let count = 0;
  return (request) => {
    if (writePointKey(request, aliases) !== key) return false;
    count += 1;
    return count === occurrence;
  };
}
