import type { EngineFacts } from "../engine/engine-facts.ts";

/** The UUID that each node reports; nodes that did not answer, or know none, are left out. */
export function uuidsReported({ identities }: EngineFacts): ReadonlyMap<string, string> {
  return new Map(
    [...identities].flatMap(([node, fact]) => {
      const uuid = fact.isKnown && fact.value.hasVoters ? fact.value.clusterUuid : undefined;
      return uuid === undefined ? [] : [[node, uuid]];
    }),
  );
}

/** The one UUID that a majority of these nodes report; undefined while there is none. */
export function commonUuid(engine: EngineFacts, nodes: readonly string[]): string | undefined {
  const reported = uuidsReported(engine);
  const uuids = nodes.flatMap((node) => reported.get(node) ?? []);
  const [uuid] = uuids;
  const isMajority = uuids.length > nodes.length / 2 && uuids.every((each) => each === uuid);
  return isMajority ? uuid : undefined;
}
