import { eventually, joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { lateIn, launch, leads, termsOf, writesTo } from "../support/candidates.ts";

describe("two replicas", () => {
  test("[runtime/RT-09] [faults/13] hand over within 3 s on SIGTERM, and write one after the other", async () => {
    using cluster = joinSharedCluster();
    const begin = await cluster.audit.position();
    await using namespace = await makeNamespace(cluster.api, "election");
    await using first = launch(cluster, namespace.name, { identity: "first" });
    await leads(first, 30_000);
    await using second = launch(cluster, namespace.name, { identity: "second" });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(second.output).toEqual([]);
    const requestedMs = Date.now();
    first.process.kill("SIGTERM");
    const ledMs = await leads(second, 30_000);
    expect(ledMs - requestedMs).toBeLessThanOrEqual(3_000);
    await eventually(() => first.process.exitCode !== null, { withinMs: 10_000 });
    expect(first.process.exitCode).toBe(0);
    await eventually(async () => termsOf(await writesTo(cluster, begin, namespace.name)).length === 2);
    expect(termsOf(await writesTo(cluster, begin, namespace.name))).toEqual(["first", "second"]);
  });

  test("[runtime/RT-09] [faults/12] take over within 20 s when the leader is killed, and write one after the other", async () => {
    using cluster = joinSharedCluster();
    const begin = await cluster.audit.position();
    await using namespace = await makeNamespace(cluster.api, "election");
    await using first = launch(cluster, namespace.name, { identity: "first" });
    await leads(first, 30_000);
    await using second = launch(cluster, namespace.name, { identity: "second" });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const killedMs = Date.now();
    first.process.kill("SIGKILL");
    const ledMs = await leads(second, 40_000);
    expect(ledMs - killedMs).toBeLessThanOrEqual(20_000);
    await eventually(async () => termsOf(await writesTo(cluster, begin, namespace.name)).length === 2);
    const writes = await writesTo(cluster, begin, namespace.name);
    const firstMs = Math.min(
      ...writes.filter(({ identity }) => identity === "second").map(({ atMs }) => atMs),
    );
    expect(firstMs - killedMs).toBeLessThanOrEqual(20_000);
    expect(termsOf(await writesTo(cluster, begin, namespace.name))).toEqual(["first", "second"]);
  });

  test("[runtime/RT-10] make no write after the leader's loop was blocked for 20 s until it holds the lease again", async () => {
    using cluster = joinSharedCluster();
    const begin = await cluster.audit.position();
    await using namespace = await makeNamespace(cluster.api, "election");
    await using first = launch(cluster, namespace.name, { identity: "first" });
    await leads(first, 30_000);
    await using second = launch(cluster, namespace.name, { identity: "second" });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    first.process.kill("SIGUSR2");
    await leads(second, 40_000);
    await eventually(() => first.output.some(({ what }) => what === "awake"), { withinMs: 30_000 });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const awakeMs = first.output.find(({ what }) => what === "awake")?.atMs ?? 0;
    const writes = await writesTo(cluster, begin, namespace.name);
    const story = JSON.stringify({
      output: first.output,
      late: lateIn(writes, "first").map(({ atMs }) => atMs - awakeMs),
    });
    expect(termsOf(writes), story).toEqual(["first", "second"]);
    expect(writes.filter(({ identity, atMs }) => identity === "first" && atMs > awakeMs)).toEqual([]);
    expect(first.output.map(({ what }) => what)).toEqual(["start", "blocking", "awake", "stop"]);
  });
});
