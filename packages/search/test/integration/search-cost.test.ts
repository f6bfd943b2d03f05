import { monitorEventLoopDelay } from "node:perf_hooks";

import { type Pod, pods, secrets, statefulSets } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

/** Keeps a pod that the controller of StatefulSets deletes as surplus. */
const finalizer = "tests.quartermaster.dev/stay";

/** A pod that looks as if the StatefulSet had made it, under an ordinal that a tenant chose. */
async function forgePod({ client, namespace }: SearchBench, name: string): Promise<void> {
  const set = await client.get(statefulSets, { namespace, name: "logs-nodes" });
  const real = await client.get(pods, { namespace, name: "logs-nodes-0" });
  const { uid } = set.metadata;
  await client.create<Pod>(pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels: { ...real.metadata.labels },
      finalizers: [finalizer],
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "StatefulSet", name: "logs-nodes", uid, controller: true },
      ],
    },
    spec: { containers: [{ name: "opensearch", image: "nowhere/none:1" }] },
  });
}

/** Text of many keys, about so many characters. */
function manyKeys(size: number, value: string): string {
  const count = Math.ceil(size / (11 + value.length));
  return Array.from({ length: count }, (_, at) => `key${String(at).padStart(6, "0")}: ${value}`).join("\n");
}

/** Longest time that nothing else could run in this process, operator included. */
async function longestBlockMs(work: () => Promise<void>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  await work();
  delay.disable();
  return delay.max / 1e6;
}

/** Another cluster is made and gets ready while all this continues; kubelet and the engine take some seconds of it themselves. */
async function serveBystander(bench: SearchBench, name: string): Promise<void> {
  await bench.apply(aCluster(name, { pools: [aPool("nodes", 1)] }));
  await bench.until(name, isReady);
  await changeBystander(bench, name, true);
}

/** An edit of another cluster is answered within 5 s. */
async function changeBystander(bench: SearchBench, name: string, paused: boolean): Promise<void> {
  const begun = performance.now();
  await bench.apply(aCluster(name, { pools: [aPool("nodes", 1)], spec: { operations: { paused } } }));
  await bench.until(name, (found) => found.status?.observedGeneration === found.metadata.generation);
  expect(performance.now() - begun).toBeLessThan(5_000);
}

describe("what one tenant's object costs", () => {
  test("[security/103] 700 KB of settings and 640 KB of users are refused before they are read, and another cluster is served", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const one = { a: manyKeys(700_000, "1") };
    await expect(
      bench.apply(aCluster("logs", { pools: [aPool("nodes", 1, { additionalConfig: one })] })),
    ).rejects.toThrow(/additionalConfig.*Too long|may not be (?:more|longer)/s);
    const many = Object.fromEntries(
      Array.from({ length: 90 }, (_, at) => [`a${String(at)}`, manyKeys(7_900, "1").slice(0, 8_000)]),
    );
    const users = Buffer.from(manyKeys(640_000, "{}")).toString("base64");
    await client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "users", namespace },
      data: { "internal_users.yml": users },
    });
    const security = { config: { securityConfigSecret: { name: "users" } } };
    const blockedMs = await longestBlockMs(async () => {
      await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1, { additionalConfig: many })] }));
      await bench.apply(aCluster("users", { pools: [aPool("nodes", 1)], spec: { security } }));
      await serveBystander(bench, "other");
      const refused = await bench.until(
        "logs",
        (found) => conditionOf(found, "Stalled") === "True/InvalidSpec",
      );
      expect(messageOf(refused)).toContain("larger than 64 KiB");
      await bench.until("users", (found) =>
        (found.status?.blockers ?? []).some(({ message }) => message.includes("larger than 256 KiB")),
      );
    });
    expect(blockedMs).toBeLessThan(5_000);
  });

  test("[security/111] more silent engines than workers do not keep another cluster waiting, and a slow write ends in a later reconcile", async () => {
    await using bench = await setUpSearch();
    const silent = ["s1", "s2", "s3", "s4", "s5"];
    for (const [at, name] of silent.entries()) {
      const call = at % 2 === 0 ? "hasSecurityIndex" : "initSecurity";
      bench.engines.engine(name).faults.plan({ call, fault: { kind: "hang" } });
      await bench.apply(aCluster(name, { pools: [aPool("nodes", 1)] }));
    }
    for (const name of silent) await bench.until(name, (found) => found.status?.clusterUuid !== undefined);
    const blocked = bench.engines.calls.filter(
      (call) => call === "hasSecurityIndex" || call === "initSecurity",
    );
    expect(blocked.length).toBeGreaterThan(0);
    await serveBystander(bench, "other");
    // A new operator has no sample of any of them.
    await bench.stop();
    for (const name of silent)
      bench.engines.engine(name).faults.plan({ call: "health", fault: { kind: "hang" } });
    await bench.operate();
    await changeBystander(bench, "other", false);
    for (const name of silent) bench.engines.engine(name).faults.clear();
    for (const name of silent) await bench.until(name, isReady);
  });

  test("[security/113] engines that name 60,000 shards and 10,000 nodes do not keep another cluster waiting", async () => {
    await using bench = await setUpSearch();
    const shards = Array.from({ length: 60_000 }, (_, shard) => ({
      index: `i${String(shard)}`,
      shard: 0,
      isPrimary: true,
      state: "UNASSIGNED",
      node: undefined,
    }));
    const members = Array.from({ length: 10_000 }, (_, at) => ({
      id: String(at),
      name: `n${String(at)}`,
      version: "2.19.4",
      roles: ["data"],
      isElected: false,
    }));
    const names = ["l1", "l2", "l3", "l4", "l5"];
    for (const name of names) {
      const { faults } = bench.engines.engine(name);
      faults.plan({ call: "shards", fault: { kind: "lie", value: shards } });
      faults.plan({ call: "nodes", fault: { kind: "lie", value: members } });
      await bench.apply(aCluster(name, { pools: [aPool("nodes", 1)] }));
    }
    await serveBystander(bench, "other");
    expect(bench.engines.calls.filter((call) => call === "nodes").length).toBeGreaterThan(0);
  });

  test("[security/104] a pod with the ordinal 300000000 and our labels takes no memory, and other clusters are served", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
    const name = "logs-nodes-300000000";
    await forgePod(bench, name);
    try {
      const before = process.memoryUsage().heapUsed;
      await serveBystander(bench, "other");
      // A new operator meets the pod with its first reconcile.
      await bench.stop();
      await bench.operate();
      await changeBystander(bench, "other", false);
      await bench.apply(aCluster("logs", { pools: [aPool("nodes", 2)] }));
      await bench.until("logs", (found) => found.status?.nodes?.length === 2 && isReady(found));
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(500e6);
      expect(await client.find(pods, { namespace, name })).toBeDefined();
    } finally {
      const patch = { kind: "merge", body: { metadata: { finalizers: [] } } } as const;
      await client.patch(pods, { namespace, name }, { patch });
    }
  });
});
