import { elasticsearchCluster } from "@quartermaster/api";
import { expect, test } from "vitest";

import { type LicenseBench, setUpBench } from "../support/license-bench.ts";

/** In a campaign a thousand operations. */
const rounds = process.env["QM_CAMPAIGN"] === "1" ? 50 : 2;
const operationsOfRound = 20;
const names = ["a", "b", "c", "d", "e"];
const { kind } = elasticsearchCluster;
const held = "tests.quartermaster.dev/held";

/** Numbers below a limit, the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >>> 8) % below;
  };
}

/** Nodes of each cluster that is there, also of those in deletion. */
class Clusters {
  readonly #bench: LicenseBench;
  readonly #next = numbers(45);
  readonly #nodes = new Map<string, number>();
  readonly #leaving = new Set<string>();

  constructor(bench: LicenseBench) {
    this.#bench = bench;
  }

  get sum(): number {
    return [...this.#nodes.values()].reduce((sum, nodes) => sum + nodes, 0);
  }

  async act(): Promise<void> {
    const name = names[this.#next(names.length)] ?? "a";
    if (!this.#nodes.has(name)) return await this.#create(name);
    if (this.#leaving.has(name)) return await this.#free(name);
    return this.#next(3) === 0 ? await this.#delete(name) : await this.#resize(name);
  }

  async #create(name: string): Promise<void> {
    const nodes = 1 + this.#next(4);
    await this.#bench.createCluster(name, { nodes });
    this.#nodes.set(name, nodes);
  }

  async #resize(name: string): Promise<void> {
    const nodes = 1 + this.#next(4);
    const pool = { component: "nodes", replicas: nodes, diskSize: "1Gi", roles: ["cluster_manager", "data"] };
    await this.#patch(name, { spec: { nodePools: [pool] } });
    await this.#bench.report(name, { capacity: { presentNodes: nodes } });
    this.#nodes.set(name, nodes);
  }

  /** Every second one stays in deletion: its nodes still shut down. */
  async #delete(name: string): Promise<void> {
    const isHeld = this.#next(2) === 0;
    if (isHeld) await this.#patch(name, { metadata: { finalizers: [held] } });
    await this.#bench.client.delete(kind, { namespace: this.#bench.team, name });
    if (isHeld) this.#leaving.add(name);
    else this.#nodes.delete(name);
  }

  async #free(name: string): Promise<void> {
    await this.#patch(name, { metadata: { finalizers: null } });
    this.#leaving.delete(name);
    this.#nodes.delete(name);
  }

  async #patch(name: string, body: object): Promise<void> {
    await this.#bench.client.patch(
      kind,
      { namespace: this.#bench.team, name },
      { patch: { kind: "merge", body } },
    );
  }
}

test(
  "[faults/45] clusters come, grow, shrink and go, some slowly: a license that a cluster in deletion had is free once it no longer exists, and what is used of the pool is always their sum",
  { timeout: 900_000 },
  async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    const clusters = new Clusters(bench);
    for (let round = 0; round < rounds; round += 1) {
      for (let done = 0; done < operationsOfRound; done += 1) await clusters.act();
      const { status } = await bench.enterprise("e", ({ status: now }) => now?.used === clusters.sum);
      expect(status?.used).toBe(clusters.sum);
    }
  },
);
