import { fieldOf, listOf, textOf } from "@quartermaster/runtime";

import type { EngineClient, ExplainedCopy } from "./engine-client.ts";
import type { EngineFacts, EngineShard, ShardExplanation } from "./engine-facts.ts";
import { bounded, unreadable } from "./read-response.ts";

/** Copies that are queried in one sample. */
const mostQueries = 10;

type Known = Pick<EngineFacts, "health" | "shards" | "settings">;

/**
 * Queries why copies are where they are, for a bounded number of them and only while nothing moves without us: copies that are not assigned, and
 * copies that stay on the node that is being emptied.
 */
export async function explainCopies(
  client: EngineClient,
  known: Known,
): Promise<readonly ShardExplanation[]> {
  const all: ShardExplanation[] = [];
  for (const copy of copiesToExplain(known).slice(0, mostQueries)) all.push(await client.explain(copy));
  return all;
}

/** Which copies no one but the engine can say something about. */
export function copiesToExplain({ health, shards, settings }: Known): readonly EngineShard[] {
  if (!health.isKnown || !shards.isKnown || health.value.status === "red") return [];
  if (health.value.relocatingShards + health.value.initializingShards > 0) return [];
  const draining = settings.isKnown ? settings.value.persistent[excludedSetting] : undefined;
  const seen = new Set<string>();
  return shards.value.filter(({ index, shard, state, node }) => {
    const key = `${index}/${String(shard)}`;
    const isRequested = state === "UNASSIGNED" || (typeof draining === "string" && node === draining);
    if (!isRequested || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Under this name an operation writes down which node it empties. */
const excludedSetting = "cluster.metadata.quartermaster_excluded";

/** Characters of the engine's words that reach a status. */
const textLimit = 200;

/** Nodes that are looked at; clusters have fewer. */
const mostNodes = 500;

/** From `_cluster/allocation/explain`. Names of nodes and rules are the engine's, so they are bounded and made printable. */
export function readExplanation(copy: ExplainedCopy, response: unknown): ShardExplanation {
  const decisions = listOf(response, "node_allocation_decisions");
  const isExplanation =
    textOf(response, "current_state") !== undefined && textOf(response, "index") === copy.index;
  if (!isExplanation || decisions.length > mostNodes)
    throw unreadable("explain", "the response says nothing about the copy");
  const nodes = decisions.map((decision) => {
    const refusing = listOf(decision, "deciders").filter((each) => textOf(each, "decision") === "NO");
    return {
      node: bounded(textOf(decision, "node_name") ?? "", 253),
      deciders: refusing.map((each) => bounded(textOf(each, "decider") ?? "", 64)).slice(0, 16),
    };
  });
  return { ...copy, nodes, text: textIn(response, decisions) };
}

export function explainRequest({ index, shard, isPrimary, node }: ExplainedCopy): object {
  return { index, shard, primary: isPrimary, ...(node === undefined ? {} : { current_node: node }) };
}

/** The first reason that a node gives, or the summary. */
function textIn(response: unknown, decisions: readonly unknown[]): string {
  const deciders = decisions.flatMap((decision) => listOf(decision, "deciders"));
  const first = deciders.find((each) => textOf(each, "decision") === "NO");
  const summary = textOf(response, "allocate_explanation") ?? textOf(response, "move_explanation") ?? "";
  const text = first === undefined ? summary : `${textOf(first, "decider") ?? ""}: ${explanationOf(first)}`;
  return bounded(text, textLimit);
}

function explanationOf(decider: unknown): string {
  const text = fieldOf(decider, "explanation");
  return typeof text === "string" ? text : "";
}
