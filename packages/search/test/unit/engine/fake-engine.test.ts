import { VirtualSystem } from "@quartermaster/runtime/testing";
import type { EngineClient } from "@quartermaster/search";
import { FakeEngine, type FakePod } from "@quartermaster/search/testing";
import { expect, test } from "vitest";

import { codeOf } from "../../support/opensearch-contract.ts";

/** A fake engine whose pods a test moves about. */
class Stage {
  readonly system = new VirtualSystem();
  readonly engine: FakeEngine;
  readonly client: EngineClient;
  readonly #pods = new Map<string, FakePod>();

  constructor(pods: Readonly<Record<string, Partial<FakePod>>>) {
    for (const [name, pod] of Object.entries(pods)) this.#pods.set(name, aPod(name, pod));
    this.engine = new FakeEngine({
      system: this.system,
      distribution: "opensearch",
      pods: () => [...this.#pods.values()],
    });
    const endpoints = Object.keys(pods).map((node) => ({ node, host: node, port: 9200 }));
    this.client = this.engine.connect({
      distribution: "opensearch",
      endpoints,
      tls: undefined,
      login: undefined,
    });
  }

  change(name: string, change: Partial<FakePod>): void {
    this.#pods.set(name, { ...aPod(name, {}), ...this.#pods.get(name), ...change });
  }
}

function aPod(name: string, change: Partial<FakePod>): FakePod {
  return {
    name,
    uid: `${name}-1`,
    volume: `${name}-volume`,
    isRunning: true,
    roles: ["cluster_manager", "data"],
    version: "2.19.4",
    clusterName: "c",
    initialManagers: [],
    ...change,
  };
}

const three = ["m-0", "m-1", "m-2"];
const founders = Object.fromEntries(three.map((name) => [name, { initialManagers: three }]));

test("managers form one cluster once a majority of their list is there, and late ones join", async () => {
  const stage = new Stage({
    "m-0": { initialManagers: three },
    "m-1": { initialManagers: three, isRunning: false },
    "m-2": { initialManagers: three, isRunning: false },
  });
  expect(await codeOf(stage.client.health())).toBe("unavailable");
  stage.change("m-1", { isRunning: true });
  expect((await stage.client.health()).nodes).toBe(2);
  stage.change("m-2", { isRunning: true });
  expect((await stage.client.health()).nodes).toBe(3);
  expect((await stage.client.coordination()).voters.toSorted()).toEqual(three);
  expect(stage.engine.uuids).toHaveLength(1);
});

test("two lists found two clusters: a split", async () => {
  const stage = new Stage({ "m-0": { initialManagers: ["m-0"] }, "m-1": { initialManagers: ["m-1"] } });
  const one = await stage.client.identity("m-0");
  const other = await stage.client.identity("m-1");
  expect(one.clusterUuid).not.toBe(other.clusterUuid);
  expect(stage.engine.uuids).toHaveLength(2);
});

test("without a list blank managers wait for ever", async () => {
  const stage = new Stage({ "m-0": {}, "m-1": {} });
  await stage.system.advance(3_600_000);
  expect(await stage.client.identity("m-0")).toMatchObject({ clusterUuid: undefined, hasVoters: false });
});

test("all pods away and back on their volumes: the same cluster without a list", async () => {
  const stage = new Stage(founders);
  const { clusterUuid } = await stage.client.coordination();
  for (const name of three) stage.change(name, { isRunning: false });
  expect(await codeOf(stage.client.health())).toBe("unreachable");
  for (const name of three) stage.change(name, { isRunning: true, uid: `${name}-2`, initialManagers: [] });
  expect((await stage.client.coordination()).clusterUuid).toBe(clusterUuid);
  expect(stage.engine.uuids).toHaveLength(1);
});

test("the disks of a majority of voters lost: no quorum, a client that is left", async () => {
  const stage = new Stage(founders);
  await stage.client.health();
  for (const name of ["m-0", "m-1"])
    stage.change(name, { uid: `${name}-2`, volume: "", initialManagers: [] });
  stage.change("m-0", { volume: "new-0" });
  stage.change("m-1", { volume: "new-1" });
  expect(await codeOf(stage.client.health())).toBe("unavailable");
});

test("a wiped manager that still has its list founds a cluster of its own beside the one that it cannot see", async () => {
  const stage = new Stage({ "m-0": { initialManagers: ["m-0"] }, "d-0": { roles: ["data"] } });
  await stage.client.health();
  stage.change("m-0", { uid: "m-0-2", volume: "blank" });
  await stage.client.identity("m-0");
  expect(stage.engine.uuids).toHaveLength(2);
});

test("a node with the volume of another cluster never joins", async () => {
  const stage = new Stage({ "m-0": { initialManagers: ["m-0"] }, "d-0": { roles: ["data"] } });
  expect((await stage.client.health()).nodes).toBe(2);
  stage.change("m-0", { uid: "m-0-2", volume: "blank" });
  stage.change("d-0", { uid: "d-0-2" });
  expect((await stage.client.nodes()).map(({ name }) => name)).toEqual(["m-0"]);
  expect(await stage.client.identity("d-0")).toMatchObject({ clusterUuid: undefined, hasVoters: false });
});

test("an excluded vote leaves one voter of three, and the elected manager hands over", async () => {
  const stage = new Stage(founders);
  const { elected = "" } = await stage.client.coordination();
  await stage.client.excludeVotes([elected]);
  const after = await stage.client.coordination();
  expect(after.voters).toHaveLength(1);
  expect(after.voters).not.toContain(elected);
  expect(after.elected).not.toBe(elected);
  await stage.client.clearVoteExclusions();
  expect((await stage.client.coordination()).voters).toHaveLength(3);
});

test("the vote of the only manager cannot be excluded", async () => {
  const stage = new Stage({ "m-0": { initialManagers: ["m-0"] } });
  await stage.client.health();
  expect(await codeOf(stage.client.excludeVotes(["m-0"]))).toBe("timeout");
});

test("a lost node makes yellow, copies rebuild elsewhere, and a relocating copy counts on both nodes", async () => {
  const stage = new Stage(founders);
  await stage.client.health();
  stage.engine.createIndex("m-0", { name: "docs", shards: 1, replicas: 1, documents: 10 });
  await stage.system.advance(5_000);
  await stage.client.health();
  await stage.system.advance(5_000);
  expect((await stage.client.health()).status).toBe("green");
  const [row] = await stage.client.shards();
  const holder = row?.node ?? "";
  await stage.client.putSettings({ transient: { "cluster.routing.allocation.exclude._name": holder } });
  const moving = (await stage.client.shards()).filter(({ state }) => state !== "STARTED");
  expect(moving.map(({ state }) => state)).toEqual(["RELOCATING", "INITIALIZING"]);
  expect(new Set(moving.map(({ node }) => node)).size).toBe(2);
  await stage.system.advance(5_000);
  expect((await stage.client.shards()).filter(({ node }) => node === holder)).toEqual([]);
  const [left] = await stage.client.shards();
  stage.change(left?.node ?? "", { isRunning: false });
  expect((await stage.client.health()).status).toBe("yellow");
});

test("a shard without a copy is red until its volume is back", async () => {
  const stage = new Stage(founders);
  await stage.client.health();
  stage.engine.createIndex("m-0", { name: "solo", shards: 1, replicas: 0, documents: 10 });
  await stage.system.advance(5_000);
  const [row] = await stage.client.shards();
  const holder = row?.node ?? "";
  stage.change(holder, { isRunning: false });
  await stage.system.advance(60_000);
  expect((await stage.client.health()).status).toBe("red");
  stage.change(holder, { isRunning: true, uid: `${holder}-2` });
  await stage.client.health();
  await stage.system.advance(5_000);
  expect((await stage.client.health()).status).toBe("green");
});

test("planned faults throw, lie, hang, and lose the response of what was done", async () => {
  const stage = new Stage(founders);
  const { faults } = stage.engine;
  faults.plan({ call: "shards", fault: { kind: "lie", value: [] }, times: 1 });
  expect(await stage.client.shards()).toEqual([]);
  faults.plan({ call: "health", fault: { kind: "throw", code: "forbidden" }, times: 1 });
  expect(await codeOf(stage.client.health())).toBe("forbidden");
  expect(await codeOf(stage.client.health())).toBe("ok");
  const transient = { "cluster.routing.allocation.enable": "none" };
  faults.plan({ call: "putSettings", fault: { kind: "throw", code: "timeout", isActed: true }, times: 1 });
  expect(await codeOf(stage.client.putSettings({ transient }))).toBe("timeout");
  expect((await stage.client.settings()).transient).toEqual(transient);
  faults.plan({ call: "nodes", fault: { kind: "hang" }, times: 1 });
  const hung = codeOf(stage.client.nodes());
  await stage.system.advance(30_000);
  expect(await hung).toBe("timeout");
});
