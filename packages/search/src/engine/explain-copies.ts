import type { EngineClient } from "./engine-client.ts";
import type { EngineFacts, EngineShard, ShardExplanation } from "./engine-facts.ts";

/** Copies that are asked for in one sample. */
const mostAsked = 10;

type Known = Pick<EngineFacts, "health" | "shards" | "settings">;

/**
 * Asks why copies are where they are, a bounded number of them and only while nothing moves by itself: copies that are not assigned, and
 * copies that stay on the node that is being emptied.
 */
export async function explainCopies(
  client: EngineClient,
  known: Known,
): Promise<readonly ShardExplanation[]> {
  const all: ShardExplanation[] = [];
  for (const copy of copiesToExplain(known).slice(0, mostAsked)) all.push(await client.explain(copy));
  return all;
}

/** Which copies nobody but the engine can say something about. */
export function copiesToExplain({ health, shards, settings }: Known): readonly EngineShard[] {
  if (!health.isKnown || !shards.isKnown || health.value.status === "red") return [];
  if (health.value.relocatingShards + health.value.initializingShards > 0) return [];
  const draining = settings.isKnown ? settings.value.persistent[excludedMark] : undefined;
  const seen = new Set<string>();
  return shards.value.filter(({ index, shard, state, node }) => {
    const key = `${index}/${String(shard)}`;
    const isAsked = state === "UNASSIGNED" || (typeof draining === "string" && node === draining);
    if (!isAsked || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Under this name an operation writes down which node it empties. */
const excludedMark = "cluster.metadata.quartermaster_excluded";
