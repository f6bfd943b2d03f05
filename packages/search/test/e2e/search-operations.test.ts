import { setTimeout as sleep } from "node:timers/promises";

import { openSearchCluster } from "@quartermaster/api";
import { fieldOf, isJsonObject, listOf, type Live, parseJson } from "@quartermaster/runtime";
import { pods, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually, hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { allCrashes, liveAndDie } from "../support/live-and-die.ts";
import { leanJvm } from "./engine-pods.ts";
import { isReady, type RealSearch, startRealSearch } from "./real-search.ts";

const minute = 60_000;
const namespace = "team";
const pool = (component: string, replicas: number, roles: readonly string[]): object => ({
  component,
  replicas,
  roles,
  diskSize: "1Gi",
  jvm: leanJvm,
});
const rate = "indices.recovery.max_bytes_per_sec";
const copies = { number_of_shards: 2, number_of_replicas: 1 };

interface Shape {
  readonly managers: number;
  readonly data: number;
  readonly annotations?: object;
  readonly clusterSettings?: object;
}

function declared({ managers, data, annotations = {}, clusterSettings = {} }: Shape): object {
  return {
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name: "logs", namespace, annotations },
    spec: {
      general: { serviceName: "logs", version: "2.19.4", clusterSettings },
      nodePools: [pool("managers", managers, ["cluster_manager"]), pool("data", data, ["data", "ingest"])],
    },
  };
}

const isAtRest = (nodes: number): ((found: Live<ClusterObject>) => boolean) => {
  return (found) =>
    isReady(found) && found.status?.availableNodes === nodes && found.status.operation === undefined;
};

/** While no one is elected, or a pod is just gone, nothing is known: that is for the load to judge. */
function noResponse(error: unknown): { readonly status: number; readonly body: string } {
  return { status: 0, body: String(error) };
}

// One cluster lives through all of it: too long for `make test`, which runs the same with the fake engine.
describe.runIf(hasRealNodes() && process.env["QM_CAMPAIGN"] === "1")("operations on real nodes", () => {
  let real: RealSearch;

  beforeAll(async () => {
    real = await startRealSearch({
      kind: openSearchCluster.kind,
      namespace,
      name: "logs",
      nodes: 2,
      engine: "opensearch",
      version: "2.19.4",
    });
    await real.apply(declared({ managers: 3, data: 2 }));
    await real.until((found) => isAtRest(5)(found) && found.status?.health === "green");
  }, 15 * minute);

  afterAll(async () => {
    await real?.[Symbol.asyncDispose]();
  });

  /** Committed voters by name; those that are no members by their id. Undefined while there is no manager. */
  async function voters(): Promise<readonly string[] | undefined> {
    const fields = "metadata.cluster_coordination.last_committed_config,nodes.*.name";
    const path = `/_cluster/state/metadata,nodes?cluster_manager_timeout=2s&filter_path=${fields}`;
    const response = await real.request(path).catch(noResponse);
    if (response.status !== 200) return undefined;
    const state = parseJson(response.body);
    const nodes = fieldOf(state, "nodes");
    const name = (id: unknown): string => {
      const known = isJsonObject(nodes) ? fieldOf(nodes[String(id)], "name") : undefined;
      return typeof known === "string" ? known : String(id);
    };
    const coordination = fieldOf(fieldOf(state, "metadata"), "cluster_coordination");
    return listOf(coordination, "last_committed_config").map(name);
  }

  /** Samples who votes until it is ended: a manager that is away by our hand must have given its vote before. */
  function watchVotes(): {
    end(): Promise<{ readonly samples: number; readonly violations: readonly string[] }>;
  } {
    const violations: string[] = [];
    let samples = 0;
    const end = new AbortController();
    const sample = async (): Promise<void> => {
      const committed = await voters();
      const { operation } = (await real.get()).status ?? {};
      const live = await Array.fromAsync(real.client.list(pods, { namespace }));
      samples += 1;
      if (committed === undefined || operation?.pool !== "managers") return;
      const isThere = live.some(
        ({ metadata }) => metadata.uid === operation.podUid && metadata.deletionTimestamp === undefined,
      );
      const isBack = live.some(
        ({ metadata, status }) =>
          metadata.name === operation.node &&
          status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") === true,
      );
      if (!isThere && !isBack && committed.includes(operation.node))
        violations.push(`${operation.node} is away and votes: ${committed.join(", ")}`);
    };
    const loop = (async (): Promise<void> => {
      while (!end.signal.aborted) {
        await sample();
        await sleep(300);
      }
    })();
    return {
      end: async () => {
        end.abort();
        await loop;
        return { samples, violations };
      },
    };
  }

  test(
    "[search/SC-62] [search/SC-107] three managers become one, the operator killed at every write: votes leave first, the cluster lives",
    async () => {
      const uuid = (await real.get()).status?.clusterUuid;
      const load = await real.load("votes", copies);
      const watch = watchVotes();
      await real.stop();
      await real.apply(declared({ managers: 1, data: 2 }));
      const lives = await liveAndDie(real, allCrashes[0], async () => isAtRest(3)(await real.get()));
      await real.operate(real.operator);
      const found = await real.until(isAtRest(3));
      const votes = await watch.end();
      const tally = await load.end();
      process.stdout.write(`${JSON.stringify({ case: "SC-62", lives, ...votes, ...tally })}\n`);
      expect(found.status?.clusterUuid).toBe(uuid);
      expect(await voters()).toEqual(["logs-managers-0"]);
      expect(votes.violations).toEqual([]);
      expect(tally).toMatchObject({ failed: [], lost: [], red: 0 });
    },
    15 * minute,
  );

  test(
    "[search/SC-44] [search/SC-14] two managers roll: the vote is moved first, and the cluster keeps a manager",
    async () => {
      await real.apply(declared({ managers: 2, data: 2 }));
      await real.until(isAtRest(4));
      const load = await real.load("pair", copies);
      const watch = watchVotes();
      const annotations = { "search.quartermaster.dev/restart.managers": "1" };
      await real.stop();
      await real.apply(declared({ managers: 2, data: 2, annotations }));
      const isRolled = (found: Live<ClusterObject>): boolean =>
        isAtRest(4)(found) &&
        found.status?.restarted?.length === 1 &&
        found.status.nodes?.every(({ outdatedBecause = [] }) => outdatedBecause.length === 0) === true;
      const lives = await liveAndDie(real, allCrashes[0], async () => isRolled(await real.get()));
      await real.operate(real.operator);
      await real.until(isRolled);
      const votes = await watch.end();
      const tally = await load.end();
      process.stdout.write(`${JSON.stringify({ case: "SC-44", lives, ...votes, ...tally })}\n`);
      expect(votes.violations).toEqual([]);
      expect(tally).toMatchObject({ failed: [], lost: [], red: 0 });
    },
    15 * minute,
  );

  test(
    "[search/SC-69] [faults/31] a node is killed while it is emptied: its place stays until every copy is complete elsewhere",
    async () => {
      const annotations = { "search.quartermaster.dev/restart.managers": "1" };
      const clusterSettings = { [rate]: "50kb" };
      await real.apply(declared({ managers: 2, data: 3, annotations, clusterSettings }));
      await real.until(isAtRest(5));
      const settings = { number_of_shards: 3, number_of_replicas: 1 };
      await real.request("/heavy", { method: "PUT", body: { settings } });
      for (let at = 0; at < 60; at += 1) {
        const text = Array.from({ length: 2_000 }, () => Math.random().toString(36)).join(" ");
        await real.request(`/heavy/_doc/${String(at)}`, { method: "PUT", body: { text } });
      }
      await eventually(
        async (see) => see((await real.request("/_cluster/health")).body).includes('"green"'),
        {
          withinMs: 3 * minute,
        },
      );
      const load = await real.load("emptied", copies);
      await real.apply(declared({ managers: 2, data: 2, annotations, clusterSettings }));
      const draining = await real.until(
        ({ status }) => status?.operation?.step === "Drain" && (status.operation.shardsLeft ?? 0) > 0,
      );
      const node = draining.status?.operation?.node ?? "";
      await real.client.delete(pods, { namespace, name: node }, { gracePeriodSeconds: 0 });
      const early: string[] = [];
      await eventually(
        async () => {
          const { spec } = await real.client.get(statefulSets, { namespace, name: "logs-data" });
          const health = (await real.request("/_cluster/health")).body;
          const rows = (await real.request("/_cat/shards/heavy?h=state")).body;
          if (spec.replicas === 3 || /INITIALIZING|UNASSIGNED|RELOCATING/.test(rows)) {
            if (spec.replicas !== 3) early.push(health);
            return undefined;
          }
          return true;
        },
        { withinMs: 8 * minute, everyMs: 300 },
      );
      await real.until(isAtRest(4));
      const count = (await real.request("/heavy/_count")).body;
      const tally = await load.end();
      process.stdout.write(`${JSON.stringify({ case: "SC-69", node, early: early.length, ...tally })}\n`);
      expect(early).toEqual([]);
      expect(count).toContain('"count":60');
      expect(tally).toMatchObject({ failed: [], lost: [], red: 0 });
    },
    15 * minute,
  );
});
