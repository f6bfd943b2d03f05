import { NotYetKnownError, type ObjectRef, silentLog } from "@quartermaster/runtime";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { FakeEngine, type FakePod } from "@quartermaster/search/testing";
import { describe, expect, test } from "vitest";

import { EngineSampler, type EngineSamplerOptions } from "../../../src/engine/engine-sampler.ts";
import type { SampledCluster } from "../../../src/engine/sampled-engine.ts";

const minuteMs = 60_000;

function targetOf(name: string): SampledCluster["target"] {
  const endpoints = [{ node: `${name}-0`, host: name, port: 9200 }];
  return { distribution: "opensearch", endpoints, tls: undefined, login: undefined };
}

/** Clusters of one node each, and the sampler over them; woken names in order. */
class Stage implements AsyncDisposable {
  readonly system = new VirtualSystem();
  readonly woken: string[] = [];
  readonly requested: string[] = [];
  readonly sampler: EngineSampler;
  readonly #engines = new Map<string, FakeEngine>();
  readonly #pods = new Map<string, FakePod>();
  readonly #leading = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: Partial<EngineSamplerOptions> = {}) {
    this.sampler = new EngineSampler({
      system: this.system,
      log: silentLog,
      connect: (target) => {
        const engine = this.engine(target.endpoints[0]?.host ?? "");
        return engine.connect(target);
      },
      ...options,
    });
    const wake = ({ name }: ObjectRef): void => {
      this.woken.push(name);
    };
    this.#running = this.sampler.signals(wake, this.#leading.signal);
  }

  engine(name: string): FakeEngine {
    const engine = this.#engines.get(name);
    if (engine === undefined) throw new Error(`no engine ${name}`);
    return engine;
  }

  /** Declares a cluster, as a reconcile does. */
  keep(name: string, change: Partial<SampledCluster> = {}): void {
    if (!this.#engines.has(name)) {
      this.setPod(name, {});
      const engine = new FakeEngine({
        system: this.system,
        distribution: "opensearch",
        pods: () => [this.#podOf(name)],
        onCall: (call) => {
          this.requested.push(`${name} ${call}`);
        },
      });
      this.#engines.set(name, engine);
    }
    this.sampler.keep(name, {
      ref: { name, namespace: "team-a" },
      target: targetOf(name),
      isOpen: false,
      facts: new Set(),
      ...change,
    });
  }

  setPod(name: string, change: Partial<FakePod>): void {
    this.#pods.set(name, { ...this.#podOf(name), ...change });
  }

  async stepDown(): Promise<void> {
    this.#leading.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stepDown();
  }

  #podOf(name: string): FakePod {
    const known = this.#pods.get(name);
    if (known !== undefined) return known;
    const node = `${name}-0`;
    return {
      name: node,
      uid: `${name}-pod`,
      volume: `${name}-volume`,
      isRunning: true,
      roles: ["cluster_manager", "data"],
      version: "2.19.4",
      clusterName: name,
      initialManagers: [node],
    };
  }
}

test("a settled cluster is queried for its health at most twice a minute and wakes no one after the first time", async () => {
  await using stage = new Stage();
  stage.keep("calm");
  await stage.system.advance(10 * minuteMs);
  expect(stage.woken).toEqual(["calm"]);
  expect(new Set(stage.requested)).toEqual(new Set(["calm health"]));
  expect(stage.requested.length).toBeGreaterThan(15);
  expect(stage.requested.length).toBeLessThanOrEqual(21);
});

test("[security/111] a reconcile waits a moment for the first sample; a silent engine brings it back after 10 s", async () => {
  await using stage = new Stage();
  const outcome = async (): Promise<string> => {
    const facts = stage.sampler.firstFacts("slow").then(
      ({ health }) => (health.isKnown ? "known" : health.why),
      (error: unknown) => (error instanceof NotYetKnownError ? "ended" : String(error)),
    );
    await stage.system.advance(300);
    return await facts;
  };
  stage.keep("slow");
  expect(await outcome()).toBe("known");
  stage.engine("slow").faults.plan({ call: "health", fault: { kind: "hang" }, times: 1 });
  // Another address: what was known does not hold for it.
  const endpoints = [{ node: "slow-0", host: "slow", port: 9201 }];
  const target = { distribution: "opensearch", endpoints, tls: undefined, login: undefined } as const;
  stage.keep("slow", { target });
  stage.woken.length = 0;
  expect(await outcome()).toBe("ended");
  await stage.system.advance(5_000);
  expect([await outcome(), stage.woken]).toEqual(["ended", []]);
  await stage.system.advance(5_000);
  expect([await outcome(), stage.woken]).toEqual(["not sampled yet", ["slow"]]);
  await stage.system.advance(minuteMs);
  expect([await outcome(), stage.woken.length > 1]).toEqual(["known", true]);
});

describe("[security/113] what an engine says may be large", () => {
  const copies = (count: number): unknown =>
    Array.from({ length: count }, (_, shard) => ({
      index: "i",
      shard,
      isPrimary: true,
      state: "UNASSIGNED",
      node: undefined,
    }));

  test("an engine of 60,000 shards is read a sixth as often as others", async () => {
    await using stage = new Stage();
    stage.keep("large", { isOpen: true, facts: new Set(["shards"]) });
    const fault = { kind: "lie", value: copies(60_000) } as const;
    stage.engine("large").faults.plan({ call: "shards", fault });
    stage.keep("usual", { isOpen: true, facts: new Set(["shards"]) });
    await stage.system.advance(5 * minuteMs);
    const requested = (name: string): number =>
      stage.requested.filter((call) => call === `${name} shards`).length;
    expect(requested("large")).toBeLessThanOrEqual(11);
    expect(requested("usual")).toBeGreaterThan(50);
    expect(stage.sampler.facts("large").shards.isKnown).toBe(true);
  });

  test("tables of all clusters of a namespace have a limit; those of usual size and other namespaces are kept", async () => {
    await using stage = new Stage();
    const required = new Set(["shards"] as const);
    const large = ["l1", "l2", "l3", "l4", "l5"];
    for (const name of large) {
      stage.keep(name, { facts: required });
      const fault = { kind: "lie", value: copies(60_000) } as const;
      stage.engine(name).faults.plan({ call: "shards", fault });
    }
    await stage.system.advance(1_000);
    stage.keep("usual", { facts: required });
    stage.keep("far", { facts: required, ref: { name: "far", namespace: "team-b" } });
    await stage.system.advance(1_000);
    const shown = [...large, "usual", "far"].map((name) => {
      const { shards, health } = stage.sampler.facts(name);
      return `${name} ${shards.isKnown ? "known" : shards.why} ${String(health.isKnown)}`;
    });
    expect(shown.filter((each) => each.endsWith("known true"))).toHaveLength(4);
    expect(shown.filter((each) => each.endsWith("tooLarge true"))).toHaveLength(3);
    expect(shown.slice(5)).toEqual(["usual known true", "far known true"]);
  });
});

test("a cluster with something in progress is looked at each 5 s, immediately from the moment it is declared", async () => {
  await using stage = new Stage();
  stage.keep("busy");
  await stage.system.advance(1_000);
  const before = stage.requested.length;
  stage.keep("busy", { isOpen: true });
  await stage.system.advance(0);
  expect(stage.requested.length).toBe(before + 1);
  await stage.system.advance(minuteMs);
  expect(stage.requested.length).toBeGreaterThanOrEqual(before + 10);
});

test("a change of health, members or versions wakes the object, and nothing else does", async () => {
  await using stage = new Stage();
  stage.keep("changing", { facts: new Set(["nodes"]) });
  await stage.system.advance(minuteMs);
  stage.engine("changing").createIndex("changing-0", { name: "docs", shards: 1, replicas: 1, documents: 0 });
  await stage.system.advance(2 * minuteMs);
  const afterHealth = stage.woken.length;
  expect(afterHealth).toBeGreaterThan(1);
  stage.setPod("changing", { version: "2.19.5", uid: "reborn" });
  await stage.system.advance(2 * minuteMs);
  expect(stage.woken.length).toBeGreaterThan(afterHealth);
  const settled = stage.woken.length;
  await stage.system.advance(10 * minuteMs);
  expect(stage.woken.length).toBe(settled);
});

test("the facts of an engine outlive one failed sample; after the second one they are unknown and the object wakes", async () => {
  await using stage = new Stage();
  stage.keep("gone");
  await stage.system.advance(1_000);
  stage.setPod("gone", { isRunning: false });
  await stage.system.advance(33_500);
  expect(stage.sampler.facts("gone").health.isKnown).toBe(true);
  expect(stage.woken).toEqual(["gone"]);
  await stage.system.advance(6_000);
  expect(stage.sampler.facts("gone").health).toEqual({ isKnown: false, why: "unreachable" });
  expect(stage.woken).toEqual(["gone", "gone"]);
});

test("facts that no one renewed are unknown, also between two samples", async () => {
  await using stage = new Stage();
  stage.keep("stale");
  await stage.system.advance(1_000);
  await stage.stepDown();
  await stage.system.advance(61_000);
  expect(stage.sampler.facts("stale").health).toEqual({ isKnown: false, why: "too old" });
});

test("clusters that hang delay no other, even with one place for all", async () => {
  await using stage = new Stage({ concurrency: 1 });
  for (const name of ["hung-1", "hung-2", "hung-3"]) {
    stage.keep(name, { isOpen: true });
    stage.engine(name).faults.plan({ call: "health", fault: { kind: "hang" } });
  }
  stage.keep("quick", { isOpen: true });
  await stage.system.advance(minuteMs);
  expect(stage.sampler.facts("quick").health.isKnown).toBe(true);
  expect(stage.requested.filter((line) => line === "quick health").length).toBeGreaterThanOrEqual(6);
});

test("other nodes or another trust begin again: nothing known before counts", async () => {
  await using stage = new Stage();
  stage.keep("moved");
  await stage.system.advance(1_000);
  const elsewhere = {
    distribution: "opensearch",
    endpoints: [{ node: "no-such-pod", host: "moved", port: 9200 }],
    tls: undefined,
    login: undefined,
  } as const;
  stage.keep("moved", { target: elsewhere });
  expect(stage.sampler.facts("moved").health.isKnown).toBe(false);
  await stage.system.advance(1_000);
  expect(stage.sampler.facts("moved").health).toEqual({ isKnown: false, why: "unreachable" });
});

test("200 settled clusters wake no one, hold one timer each, and leave none behind", async () => {
  const stage = new Stage();
  for (let at = 0; at < 200; at += 1) stage.keep(`cluster-${String(at)}`);
  await stage.system.advance(minuteMs);
  expect(stage.woken).toHaveLength(200);
  await stage.system.advance(10 * minuteMs);
  expect(stage.woken).toHaveLength(200);
  expect(stage.system.pendingTimers).toBe(200);
  for (let at = 0; at < 100; at += 1) stage.sampler.forget(`cluster-${String(at)}`);
  expect([stage.sampler.size, stage.system.pendingTimers]).toEqual([100, 100]);
  await stage.stepDown();
  expect(stage.system.pendingTimers).toBe(0);
});

test("a cluster with auto-scaling is queried for one more fact with each sample, in turn: four requests a minute, and no more wakes", async () => {
  await using stage = new Stage();
  stage.keep("scaled", { turns: ["nodeLoad", "indices", "nodeLoad", "nodeLoad"] });
  await stage.system.advance(10 * minuteMs);
  const count = (call: string): number =>
    stage.requested.filter((requested) => requested === `scaled ${call}`).length;
  expect(stage.requested.length).toBeLessThanOrEqual(4 * 10 + 2);
  expect(count("health")).toBe(count("nodeLoad") + count("indices"));
  expect(count("indices")).toBe(Math.floor((count("health") + 2) / 4));
  // Once with the first response of each kind.
  expect(stage.woken).toEqual(["scaled", "scaled"]);
  expect(stage.sampler.facts("scaled").nodeLoad.isKnown).toBe(true);
});

test("a client that takes the samples may request a look although nothing else has changed", async () => {
  const taken: string[] = [];
  await using stage = new Stage({
    onSample: (key, { health }) => {
      taken.push(`${key} ${String(health.isKnown)}`);
      return taken.length === 3;
    },
  });
  stage.keep("calm");
  await stage.system.advance(5 * minuteMs);
  expect(new Set(taken)).toEqual(new Set(["calm true"]));
  expect(stage.woken).toEqual(["calm", "calm"]);
});

describe("[search/SC-125] lists of what other clients may change", () => {
  const lists = ["settings", "repositories"] as const;

  test("are read within ten minutes each, within two requests a minute in all, and wake only with a change", async () => {
    await using stage = new Stage();
    stage.keep("calm", { lists });
    await stage.system.advance(5 * minuteMs);
    const woken = stage.woken.length;
    stage.requested.length = 0;
    await stage.system.advance(60 * minuteMs);
    expect(stage.requested.length).toBeLessThanOrEqual(120);
    for (const list of lists) {
      const count = stage.requested.filter((call) => call === `calm ${list}`).length;
      expect(count).toBeGreaterThanOrEqual(6);
      expect(count).toBeLessThanOrEqual(7);
    }
    expect(stage.woken.length).toBe(woken);
    stage.engine("calm").putSettings({ persistent: { "a.b": "c" } });
    await stage.system.advance(10 * minuteMs);
    expect(stage.woken.length).toBe(woken + 1);
  });

  test("never two in one sample", async () => {
    await using stage = new Stage();
    stage.keep("calm", { lists });
    await stage.system.advance(minuteMs);
    expect(stage.requested.slice(0, 4)).toEqual([
      "calm health",
      "calm settings",
      "calm health",
      "calm repositories",
    ]);
  });
});
