import { defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";
import { pods, statefulSets } from "@quartermaster/runtime/kinds";
import {
  eventually,
  type FaultProxy,
  type SeenRequest,
  serverError,
  startFaultProxy,
} from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { aCluster, aPool, isReady, type SearchBench, setUpSearch } from "../support/search-bench.ts";

const changed = { general: { additionalConfig: { "indices.query.bool.max_clause_count": "2000" } } };
/** Clusters whose pods an operator with another rendering finds. */
const rendered = process.env["QM_CAMPAIGN"] === "1" ? 200 : 3;
const enable = "cluster.routing.allocation.enable";
const orders = { name: "orders", shards: 2, replicas: 1, documents: 10 } as const;

/** A cluster that is as declared, and then no one operates it. */
async function settledCluster(nodes: number): Promise<SearchBench> {
  const bench = await setUpSearch();
  await bench.apply(aCluster("logs", { pools: [aPool("nodes", nodes)] }));
  await bench.until("logs", isReady);
  bench.engines.engine("logs").createIndex("logs-nodes-0", orders);
  await bench.stop();
  return bench;
}

async function operateThrough(bench: SearchBench): Promise<FaultProxy> {
  const proxy = await startFaultProxy({ upstream: bench.operator });
  await bench.operate({ ...proxy.access, token: bench.operator.token });
  return proxy;
}

function isPodWatch({ verb, resource }: SeenRequest): boolean {
  return verb === "watch" && resource === "pods";
}

async function deletedPods(
  bench: SearchBench,
  position: Parameters<SearchBench["writes"]>[0],
): Promise<readonly string[]> {
  return (await bench.writes(position)).flatMap(({ verb, resource, name = "" }) =>
    verb === "delete" && resource === "pods" ? [name] : [],
  );
}

async function untilRolled(bench: SearchBench): Promise<void> {
  await bench.until(
    "logs",
    (found) =>
      isReady(found) &&
      found.status?.operation === undefined &&
      found.status?.nodePools?.every(({ outdated }) => outdated === 0) === true,
  );
}

function isStatus({ subresource, resource }: SeenRequest): boolean {
  return subresource === "status" && resource === "opensearchclusters";
}

function logs(changes: object = {}): object {
  return aCluster("logs", { pools: [aPool("nodes", 2)], ...changes });
}

/** An operator that is killed when it deletes a pod: nothing of it reaches the API server or an engine from then on. */
async function dieAt(bench: SearchBench, kind: "crash-before" | "crash-after-commit"): Promise<void> {
  const proxy = await operateThrough(bench);
  const dead = Promise.withResolvers<undefined>();
  const kill = (): void => {
    bench.engines.cut();
    dead.resolve(undefined);
  };
  proxy.inject(({ verb, resource }) => verb === "delete" && resource === "pods", { kind, kill });
  await dead.promise;
  await proxy[Symbol.asyncDispose]();
  await bench.stop();
  bench.engines.reconnect();
}

interface RecordedEvent extends KubeObject {
  readonly reason?: string;
  readonly note?: string;
  readonly series?: { readonly count: number };
}

const events: Kind<RecordedEvent> = defineKind<RecordedEvent>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  scope: "Namespaced",
});

describe("a roll while something is wrong", () => {
  test("[search/SC-45] with a store of pods that stopped after the first restart, no one else is restarted", async () => {
    await using bench = await settledCluster(3);
    const gate = Promise.withResolvers<undefined>();
    let isFrozen = false;
    await using proxy = await startFaultProxy({ upstream: bench.operator });
    proxy.inject(
      isPodWatch,
      {
        kind: "watch",
        transform: async function* frozen(frames) {
          for await (const frame of frames) {
            if (isFrozen) await gate.promise;
            yield frame;
          }
        },
      },
      20,
    );
    await bench.operate({ ...proxy.access, token: bench.operator.token });
    const position = await bench.cluster.audit.position();
    isFrozen = true;
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 3)], ...changed }));
    await eventually(async () => ((await deletedPods(bench, position)).length > 0 ? true : undefined));
    const requested = bench.engines.calls.filter((call) => call === "shards").length;
    // Many looks later, the store still shows the pod that no longer exists.
    await eventually(
      () => bench.engines.calls.filter((call) => call === "shards").length >= requested + 8 || undefined,
    );
    expect(await deletedPods(bench, position)).toHaveLength(1);
    gate.resolve(undefined);
    await untilRolled(bench);
    expect(new Set(await deletedPods(bench, position)).size).toBe(3);
    expect(await deletedPods(bench, position)).toHaveLength(3);
  });

  test("[search/SC-59] twenty writes of the status fail while an operation is open: no effect is repeated, and each restart ends once", async () => {
    await using bench = await settledCluster(2);
    const position = await bench.cluster.audit.position();
    const count = (call: string): number => bench.engines.calls.filter((each) => each === call).length;
    const written = count("putSettings");
    await using proxy = await operateThrough(bench);
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 2)], ...changed }));
    await bench.until("logs", ({ status }) => status?.operation !== undefined);
    const failing = proxy.inject(isStatus, serverError(500), 20);
    await eventually(async () => {
      await bench.reconcile("logs", 1);
      return failing.hits === 20 || undefined;
    });
    // After twenty failures in a row the next try is minutes away: any event brings it forward.
    await bench.reconcile("logs", 1);
    await untilRolled(bench);
    expect((await deletedPods(bench, position)).toSorted()).toEqual(["logs-nodes-0", "logs-nodes-1"]);
    // Of each node: frozen once, released once.
    expect(count("putSettings") - written).toBe(4);
    const notes = (await Array.fromAsync(bench.client.list(events, { namespace: bench.namespace })))
      .filter(({ reason }) => reason === "NodeRestarted")
      .map(({ note = "", series }) => `${note.split(" ")[0] ?? ""} ${String(series?.count ?? 1)}`);
    expect(notes.toSorted()).toEqual(["logs-nodes-0 1", "logs-nodes-1 1"]);
    expect(bench.engines.engine("logs").settings()).toEqual({ persistent: {}, transient: {} });
    await bench.stop();
  });

  test("[search/SC-51] killed between freeze and restore, before or after its pod went: allocation is open again, also when the edit was taken back meanwhile", async () => {
    await using bench = await settledCluster(2);
    const settings = (): object => bench.engines.engine("logs").settings();
    const position = await bench.cluster.audit.position();
    const [before, after] = [logs(), logs(changed)];
    await bench.apply(after);
    await dieAt(bench, "crash-before");
    expect(settings()).toMatchObject({ persistent: { [enable]: "primaries" } });
    await bench.apply(before);
    await bench.operate();
    await untilRolled(bench);
    expect(settings()).toEqual({ persistent: {}, transient: {} });
    expect(await deletedPods(bench, position)).toEqual([]);
    await bench.stop();
    await bench.apply(after);
    await dieAt(bench, "crash-after-commit");
    expect(settings()).toMatchObject({ persistent: { [enable]: "primaries" } });
    await bench.operate();
    await untilRolled(bench);
    expect((await deletedPods(bench, position)).toSorted()).toEqual(["logs-nodes-0", "logs-nodes-1"]);
    expect(settings()).toEqual({ persistent: {}, transient: {} });
  });

  test(
    "[search/SC-53] [faults/49] a new operator that renders pods in another way deletes no pod, and neither does the old one that comes back",
    { timeout: rendered * 5_000 + 120_000 },
    async () => {
      await using bench = await setUpSearch();
      const { client, namespace } = bench;
      const names = Array.from({ length: rendered }, (_, at) => `c${String(at)}`);
      for (const name of names) await bench.apply(aCluster(name, { pools: [aPool("nodes", 1)] }));
      for (const name of names) await bench.until(name, isReady);
      await bench.stop();
      const uids = async (): Promise<readonly string[]> =>
        (await Array.fromAsync(client.list(pods, { namespace })))
          .map(({ metadata }) => metadata.uid)
          .toSorted();
      const before = await uids();
      const position = await bench.cluster.audit.position();
      // As another operator would have left it: the template differs from what this one renders. An older one, then a newer one.
      for (const seconds of [77, 99]) {
        const body = { spec: { template: { spec: { terminationGracePeriodSeconds: seconds } } } };
        for (const name of names)
          await client.patch(
            statefulSets,
            { namespace, name: `${name}-nodes` },
            { patch: { kind: "merge", body } },
          );
        await bench.operate();
        await eventually(async (see) => {
          const sets = await Array.fromAsync(client.list(statefulSets, { namespace }));
          const left = sets.filter(
            ({ spec }) => spec.template.spec?.terminationGracePeriodSeconds === seconds,
          );
          return see(left).length === 0 || undefined;
        });
        for (const name of names) await bench.reconcile(name);
        for (const name of names) await bench.until(name, isReady);
        await bench.stop();
        expect(await uids()).toEqual(before);
      }
      expect(await deletedPods(bench, position)).toEqual([]);
    },
  );
});
