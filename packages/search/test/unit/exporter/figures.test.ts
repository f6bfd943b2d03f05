import { describe, expect, test } from "vitest";

import {
  allocationSamples,
  healthSamples,
  nodeLimit,
  settingSamples,
  snapshotSamples,
  voterSamples,
  writableRepositories,
} from "../../../src/exporter/cluster-series.ts";
import { readExporterConfig } from "../../../src/exporter/exporter-config.ts";
import { exporterSeries } from "../../../src/exporter/exporter.ts";
import { nodeSamples } from "../../../src/exporter/node-series.ts";
import { pageText, type Sample } from "../../../src/exporter/sample.ts";
import { engineResponses, exporterPage } from "../../fakes/index.ts";

function shown(samples: readonly Sample[]): readonly string[] {
  return samples.map(
    ({ name, labels, value }) => `${name} ${Object.values(labels).join(",")} ${String(value)}`,
  );
}

describe("health", () => {
  test("becomes a number, and shards are counted by type", () => {
    const samples = shown(healthSamples(engineResponses["/_cluster/health"]));
    expect(samples).toEqual(
      expect.arrayContaining([
        "opensearch_cluster_status  1",
        "opensearch_cluster_nodes_number  1",
        "opensearch_cluster_shards_number unassigned 1",
        "opensearch_cluster_shards_active_percent  75",
        "opensearch_cluster_task_max_waiting_time_seconds  1.2",
        "opensearch_cluster_is_timedout_bool  0",
      ]),
    );
  });

  test.each([{}, { status: "blue" }, [], "green", undefined])(
    "that cannot be read is no health: %j",
    (response) => {
      expect(() => healthSamples(response)).toThrow("names no health");
    },
  );
});

describe("settings", () => {
  const limit = (shards: unknown): object => ({ cluster: { max_shards_per_node: shards } });
  const watermark = (low: unknown): object => ({
    cluster: { routing: { allocation: { disk: { watermark: { low } } } } },
  });

  test.each<[string, object, readonly string[]]>([
    ["the default", { defaults: limit("1000") }, ["1000"]],
    ["a persistent one before the default", { persistent: limit("500"), defaults: limit("1") }, ["500"]],
    ["a transient one before all", { transient: limit("7"), persistent: limit("5") }, ["7"]],
    ["a percentage", { persistent: watermark("80%") }, ["80"]],
    ["a ratio", { persistent: watermark("0.9") }, ["90"]],
    ["bytes are no percentage", { persistent: watermark("10gb") }, []],
    ["nonsense", { persistent: limit({ deep: 1 }) }, []],
  ])("%s", (_name, response, want) => {
    expect(settingSamples(response).map(({ value }) => String(value))).toEqual(want);
  });
});

test("voters are those that count, and those of them that are members", () => {
  const state = {
    metadata: { cluster_coordination: { last_committed_config: ["a", "b", "c"] } },
    nodes: { a: {}, c: {}, d: {} },
  };
  expect(shown(voterSamples(state))).toEqual([
    "quartermaster_search_voters committed 3",
    "quartermaster_search_voters present 2",
  ]);
  expect(() => voterSamples({})).toThrow("names no nodes");
});

test("the newest successful snapshot counts, and repositories that are only read do not", () => {
  expect(writableRepositories(engineResponses["/_snapshot"])).toEqual(["nightly"]);
  expect(shown(snapshotSamples("nightly", engineResponses["/_snapshot/nightly/"]))).toEqual([
    "quartermaster_search_snapshot_last_success_timestamp_seconds nightly 1700000000",
  ]);
  expect(snapshotSamples("nightly", {})).toMatchObject([{ value: 0 }]);
});

describe("nodes", () => {
  test("have figures with their names and ids; times are seconds", () => {
    const samples = shown(nodeSamples(engineResponses["/_nodes/stats"]));
    expect(samples).toEqual(
      expect.arrayContaining([
        "opensearch_node_role_bool logs-nodes-0,Xw1,cluster_manager 1",
        "opensearch_jvm_mem_heap_used_percent logs-nodes-0,Xw1 50",
        "opensearch_indices_indexing_index_time_seconds logs-nodes-0,Xw1 1.5",
        "opensearch_threadpool_threads_count logs-nodes-0,Xw1,write,rejected 2",
        "opensearch_jvm_gc_collection_time_seconds logs-nodes-0,Xw1,young 0.09",
      ]),
    );
    expect(samples.join("\n")).not.toContain("pool-of-a-plugin");
  });

  test("of Elasticsearch have the same words for their roles", () => {
    const samples = nodeSamples({ nodes: { a: { name: "one", roles: ["master", "data_hot"] } } });
    expect(samples.flatMap(({ labels }) => labels["role"] ?? [])).toEqual(["cluster_manager", "data_hot"]);
  });

  test("are shown up to a limit, and the others counted", () => {
    const many = Object.fromEntries(
      Array.from({ length: nodeLimit + 5 }, (_, at) => [
        `id-${String(at)}`,
        { name: `n-${String(at)}`, roles: ["data"] },
      ]),
    );
    const samples = nodeSamples({ nodes: many });
    expect(samples.filter(({ name }) => name === "opensearch_node_role_bool")).toHaveLength(nodeLimit);
    expect(samples.at(-1)).toMatchObject({ name: "quartermaster_search_exporter_nodes_left_out", value: 5 });
    const rows = Object.keys(many).map((node) => ({ node, shards: "1" }));
    expect(allocationSamples(rows).length).toBeLessThanOrEqual(nodeLimit + 1);
  });

  test("that say nonsense give no figure and no error", () => {
    const samples = nodeSamples({
      nodes: { a: { roles: [1, {}], jvm: { mem: { heap_used_percent: "50" } } }, b: null },
    });
    expect(samples.map(({ name }) => name)).toEqual(["quartermaster_search_exporter_nodes_left_out"]);
    expect(() => nodeSamples({ nodes: [] })).toThrow("names no nodes");
  });
});

describe("the page", () => {
  test("has every series that is announced, each once with help and type", () => {
    const page = exporterPage("logs");
    const announced = [...page.matchAll(/^# TYPE (\w+) gauge$/gm)].map(([, name = ""]) => name);
    expect(announced.toSorted()).toEqual([...new Set(exporterSeries.map(({ name }) => name))].toSorted());
    expect(page).toContain('opensearch_cluster_status{cluster="logs"} 1\n');
  });

  test("cannot be broken by the engine's text", () => {
    const labels = { node: 'a"} 1\nopensearch_cluster_status{cluster="x"} 0 \\' };
    const page = pageText(
      [{ name: "quartermaster_search_node_shards", labels, value: 1 }],
      exporterSeries,
      "logs",
    );
    expect(page.trimEnd().split("\n")).toHaveLength(3);
    expect(page).toContain('node="a\\"} 1 opensearch_cluster_status{cluster=\\"x\\"} 0 \\\\"} 1');
  });

  test("names two figures with the same labels once", () => {
    const twice = { name: "quartermaster_search_node_shards", labels: { node: "a" }, value: 1 };
    const page = pageText([twice, { ...twice, value: 2 }], exporterSeries, "logs");
    expect(page.match(/^quartermaster_search_node_shards\{/gm)).toHaveLength(1);
  });
});

test.each([
  ["{}", "cluster"],
  ['{"cluster":"a","distribution":"solr","host":"a","port":1,"expectedNodes":1}', "distribution"],
  ['{"cluster":"a","distribution":"opensearch","host":"a","port":99999,"expectedNodes":1}', "port"],
])("a configuration that cannot be used is refused by the name of its field: %s", (text, field) => {
  expect(() => readExporterConfig(text)).toThrow(field);
});
