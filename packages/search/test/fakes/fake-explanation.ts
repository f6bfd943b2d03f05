import type { ExplainedCopy } from "../../src/engine/engine-client.ts";
import type { ShardExplanation } from "../../src/engine/engine-facts.ts";
import type { FakeCluster } from "./fake-cluster.ts";
import type { FakeEngine } from "./fake-engine.ts";
import { isDataNode } from "./fake-pod.ts";

/** Why a copy of a fake cluster is not placed or stays: what each data node says to it. */
export function fakeExplanation(
  copy: ExplainedCopy,
  cluster: FakeCluster,
  { engine, blocked }: { readonly engine: FakeEngine; readonly blocked: ReadonlyMap<string, string> },
): ShardExplanation {
  const { index, shard, isPrimary, node } = copy;
  const rows = cluster.shards.rows((volume) => engine.nameOf(volume));
  const holders = rows
    .filter((row) => row.index === index && row.shard === shard && row.node !== undefined)
    .map((row) => row.node);
  const enable = cluster.setting("cluster.routing.allocation.enable") ?? "all";
  const excluded = (cluster.setting("cluster.routing.allocation.exclude._name") ?? "").split(",");
  const isClosed = enable === "none" || (enable === "primaries" && !isPrimary);
  const isStuck = node !== undefined && engine.holdsShards.has(node);
  const rule = blocked.get(index) ?? (isStuck ? "node_version" : undefined);
  const nodes = engine
    .members(cluster)
    .filter(isDataNode)
    .map(({ pod }) => pod.name)
    .filter((name) => name !== node)
    .map((name) => ({
      node: name,
      deciders: [
        ...(rule === undefined ? [] : [rule]),
        ...(holders.includes(name) ? ["same_shard"] : []),
        ...(isClosed && node === undefined ? ["enable"] : []),
        ...(excluded.includes(name) ? ["filter"] : []),
      ],
    }));
  const first = nodes.find(({ deciders }) => deciders.length > 0)?.deciders[0];
  return { index, shard, isPrimary, node, nodes, text: first === undefined ? "" : `${first}: planned` };
}
