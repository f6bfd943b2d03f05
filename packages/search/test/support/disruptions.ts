import { fieldOf, type Live, parseJson, textOf } from "@quartermaster/runtime";
import { type Pod, pods, statefulSets } from "@quartermaster/runtime/kinds";
import {
  type FaultProxy,
  type InterleavedRequest,
  type SeenRequest,
  startFaultProxy,
} from "@quartermaster/testkit";

import type { FakeState } from "../fakes/index.ts";
import type { SearchBench } from "./search-bench.ts";

/** A write of the operator that takes nodes away, and the cluster right before the API server gets it. */
export interface Disruption {
  /** `delete` of a pod, or `shrink` of a StatefulSet. */
  readonly by: "delete" | "shrink";
  /** Nodes that go. */
  readonly nodes: readonly string[];
  /** Of the pod that is deleted. */
  readonly uid: string | undefined;
  /** Other nodes that have no pod, or whose pod is terminating, not ready or not a member. */
  readonly away: readonly string[];
  /** Committed voters. */
  readonly voters: readonly string[];
  /** Shards that have no started copy on a node that stays, as `index[shard]`. */
  readonly onlyCopies: readonly string[];
}

/** An operator of which every disruption is recorded. */
export interface WatchedOperator extends AsyncDisposable {
  readonly disruptions: readonly Disruption[];
  readonly proxy: FaultProxy;
}

/**
 * Starts the operator behind a proxy that holds each delete of a pod and each shrink of a StatefulSet until the cluster has been looked
 * at: whatever was wrong at that moment is in the record, however short it lasted.
 */
export async function operateWatched(bench: SearchBench, cluster = "logs"): Promise<WatchedOperator> {
  const proxy = await startFaultProxy({ upstream: bench.operator });
  const disruptions: Disruption[] = [];
  proxy.inject(
    mayDisrupt,
    {
      kind: "interleave",
      act: async (request) => {
        const nodes = await nodesTaken(bench, request);
        if (nodes.length === 0) return;
        const disruption = await disruptionOf(bench, { cluster, nodes, request });
        // The same pod once more: the delete before met another version of it and took nothing away.
        const known = disruptions.findIndex(({ uid }) => uid !== undefined && uid === disruption.uid);
        if (known === -1) disruptions.push(disruption);
        else disruptions[known] = disruption;
      },
    },
    Number.POSITIVE_INFINITY,
  );
  await bench.operate({ ...proxy.access, token: bench.operator.token });
  return {
    disruptions,
    proxy,
    [Symbol.asyncDispose]: async () => {
      await bench.stop();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

function mayDisrupt({ verb, resource, isDryRun }: SeenRequest): boolean {
  if (isDryRun) return false;
  return (verb === "delete" && resource === "pods") || (verb === "patch" && resource === "statefulsets");
}

/** Nodes whose pods go because of the request. */
async function nodesTaken(
  { client, namespace }: SearchBench,
  { verb, name = "", body }: InterleavedRequest,
): Promise<readonly string[]> {
  if (verb === "delete") return [name];
  const slots = fieldOf(fieldOf(parseJson(body), "spec"), "replicas");
  const set = await client.find(statefulSets, { namespace, name });
  const before = set?.spec.replicas ?? 0;
  if (typeof slots !== "number" || slots >= before) return [];
  return Array.from({ length: before - slots }, (_, at) => `${name}-${String(slots + at)}`);
}

interface Taken {
  readonly cluster: string;
  readonly nodes: readonly string[];
  readonly request: InterleavedRequest;
}

async function disruptionOf(bench: SearchBench, { cluster, nodes, request }: Taken): Promise<Disruption> {
  const { client, namespace, engines } = bench;
  const sets = await Array.fromAsync(client.list(statefulSets, { namespace }));
  const declared = sets.flatMap(({ metadata, spec }) =>
    Array.from({ length: spec.replicas ?? 0 }, (_, at) => `${metadata.name}-${String(at)}`),
  );
  const live = await Array.fromAsync(client.list(pods, { namespace }));
  const state = engines.engine(cluster).state();
  const isUp = (node: string): boolean =>
    live.some((pod) => pod.metadata.name === node && isReadyPod(pod)) &&
    state?.members.includes(node) === true;
  const others = declared.filter((node) => !nodes.includes(node));
  return {
    by: request.verb === "delete" ? "delete" : "shrink",
    nodes,
    uid:
      request.verb === "delete"
        ? textOf(fieldOf(parseJson(request.body), "preconditions"), "uid")
        : undefined,
    away: others.filter((node) => !isUp(node)),
    voters: [...(state?.voters ?? [])].toSorted(),
    onlyCopies: onlyCopies(state, new Set(others.filter(isUp))),
  };
}

/** Whether a pod is ready and stays. */
export function isReadyPod({ metadata, status }: Live<Pod>): boolean {
  const isReady = status?.conditions?.some((each) => each.type === "Ready" && each.status === "True");
  return isReady === true && metadata.deletionTimestamp === undefined;
}

function onlyCopies(state: FakeState | undefined, staying: ReadonlySet<string>): readonly string[] {
  const shards = state?.shards ?? [];
  const names = new Set(shards.map(({ index, shard }) => `${index}[${String(shard)}]`));
  for (const { index, shard, state: is, node } of shards)
    if (is !== "UNASSIGNED" && is !== "INITIALIZING" && node !== undefined && staying.has(node))
      names.delete(`${index}[${String(shard)}]`);
  return [...names].toSorted();
}
