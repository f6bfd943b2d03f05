import { pods } from "@quartermaster/runtime/kinds";
import { type AuditEntry, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { operateWatched } from "../support/disruptions.ts";
import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

async function podUids({ client, namespace }: SearchBench): Promise<ReadonlyMap<string, string>> {
  const list = await Array.fromAsync(client.list(pods, { namespace }));
  return new Map(list.map(({ metadata }) => [metadata.name, metadata.uid]));
}

/** Names of the pods that we deleted, in order. */
function deletedPods(writes: readonly AuditEntry[]): readonly string[] {
  return writes.flatMap(({ verb, resource, name = "" }) =>
    verb === "delete" && resource === "pods" ? [name] : [],
  );
}

const changed = { general: { additionalConfig: { "indices.query.bool.max_clause_count": "2000" } } };
const managersAndData = [
  aPool("managers", 3, { roles: ["cluster_manager"] }),
  aPool("data", 2, { roles: ["data"] }),
];

async function untilRolled(bench: SearchBench): Promise<void> {
  await bench.until(
    "logs",
    (found) => isReady(found) && found.status?.nodePools?.every(({ outdated }) => outdated === 0) === true,
  );
}

describe("a configuration that needs a restart", () => {
  test("[search/SC-48] rolls three pools one pod at a time, each once and only when all others are back, with few writes a node, and leaves nothing in the engine", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    await using operator = await operateWatched(bench);
    const pools = [...managersAndData, aPool("ingest", 1, { roles: ["ingest"] })];
    await bench.apply(aCluster("logs", { pools }));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-data-0", { name: "orders", shards: 2, replicas: 1, documents: 10 });
    const before = await podUids(bench);
    const position = await bench.cluster.audit.position();
    await bench.apply(aCluster("logs", { pools, ...changed }));
    // A second edit before the roll reaches anybody costs no one a second restart.
    await bench.apply(
      aCluster("logs", {
        pools,
        general: { additionalConfig: { "indices.query.bool.max_clause_count": "3000" } },
      }),
    );
    await untilRolled(bench);
    const after = await podUids(bench);
    expect([...before.keys()].filter((name) => before.get(name) === after.get(name))).toEqual([]);
    const writes = await bench.writes(position);
    const deleted = deletedPods(writes);
    expect(deleted.slice(0, 3)).toEqual(["logs-ingest-0", "logs-data-1", "logs-data-0"]);
    expect(deleted.toSorted()).toEqual([...before.keys()].toSorted());
    // Each pod is back, ready and a member, before the next one goes.
    expect(operator.disruptions.map(({ nodes, away }) => ({ nodes, away }))).toEqual(
      deleted.map((name) => ({ nodes: [name], away: [] })),
    );
    expect(operator.disruptions.flatMap(({ onlyCopies }) => onlyCopies)).toEqual([]);
    // From the first restart on: what came before carried out the edit itself.
    const rolling = writes.slice(
      writes.findIndex(({ verb, resource }) => verb === "delete" && resource === "pods"),
    );
    expect(
      rolling.length,
      rolling.map(({ verb, resource }) => `${verb} ${resource}`).join(", "),
    ).toBeLessThanOrEqual(6 * deleted.length);
    expect((await bench.get("logs")).status?.operation).toBeUndefined();
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
  });

  test("[first-use/18] a node that crashes after a bad setting is reported with its exit code, and with where to read why", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(aCluster("logs", { pools: managersAndData }));
    await bench.until("logs", isReady);
    bench.engines.down.add("logs-data-1");
    const [uid, ref] = [(await podUids(bench)).get("logs-data-1"), { namespace, name: "logs-data-1" }];
    await bench.apply(aCluster("logs", { pools: managersAndData, ...changed }));
    const crash = {
      status: {
        conditions: [{ type: "Ready", status: "False", reason: "ContainersNotReady" }],
        containerStatuses: [
          {
            name: "opensearch",
            image: "x",
            imageID: "x",
            ready: false,
            restartCount: 2,
            state: { waiting: { reason: "CrashLoopBackOff" } },
            lastState: { terminated: { exitCode: 78, reason: "Error" } },
          },
        ],
      },
    };
    const reported = await eventually(
      async (see) => {
        const pod = await client.find(pods, ref);
        // Kwok says of the new pod once that it runs.
        if (pod !== undefined && pod.metadata.uid !== uid && pod.status?.phase === "Running")
          await client.patch(pods, ref, { patch: { kind: "merge", body: crash }, subresource: "status" });
        const { status } = await bench.get("logs");
        see(status?.blockers);
        return status?.blockers?.find(({ message }) => message.includes("exit code 78"));
      },
      { withinMs: 60_000 },
    );
    expect(reported).toMatchObject({ lane: "nodes", actor: "user" });
    expect(reported.message).toContain("kubectl logs logs-data-1 -c opensearch --previous");
  });

  test("[search/SC-54] the restart annotation of one pool restarts that pool, once per value; taking it away restarts no one", async () => {
    await using bench = await setUpSearch();
    const annotated = (annotations: object): object =>
      aCluster("logs", { pools: managersAndData, annotations });
    await bench.apply(annotated({}));
    await bench.until("logs", isReady);
    const position = await bench.cluster.audit.position();
    await bench.apply(annotated({ "search.quartermaster.dev/restart.data": "monday" }));
    await eventually(async () => (deletedPods(await bench.writes(position)).length === 2 ? true : undefined));
    await untilRolled(bench);
    await bench.apply(annotated({}));
    // Something that shows that the operator has seen it.
    await bench.apply(
      aCluster("logs", { pools: [...managersAndData, aPool("more", 1, { roles: ["ingest"] })] }),
    );
    await bench.until("logs", (found) => isReady(found) && found.status?.availableNodes === 6);
    expect(deletedPods(await bench.writes(position))).toEqual(["logs-data-1", "logs-data-0"]);
  });

  test("TLS for clients that is switched off on a running cluster is held: the operator still reaches it, and other changes are carried out", async () => {
    await using bench = await setUpSearch();
    const pools = [aPool("nodes", 1)];
    await bench.apply(aCluster("logs", { pools }));
    await bench.until("logs", isReady);
    const before = await podUids(bench);
    const spec = { security: { tls: { http: { enabled: false } } } };
    await bench.apply(aCluster("logs", { pools, spec, ...changed }));
    const held = await bench.until(
      "logs",
      (found) =>
        conditionOf(found, "Ready") === "False/OperationNotSupportedYet" &&
        found.status?.nodePools?.every(({ outdated }) => outdated === 0) === true,
    );
    expect(messageOf(held)).toContain("TLS between nodes on, for clients off");
    expect(held.status).toMatchObject({ health: "green", access: { caSecret: "logs-http-cert" } });
    const after = await podUids(bench);
    expect(after.get("logs-nodes-0")).not.toBe(before.get("logs-nodes-0"));
    await bench.apply(aCluster("logs", { pools, ...changed }));
    await bench.until("logs", isReady);
    expect(await podUids(bench)).toEqual(after);
  });

  test("[search/SC-56] outside of its windows a cluster waits with a restart, until the author skips the check", async () => {
    await using bench = await setUpSearch();
    const pools = [aPool("nodes", 1)];
    // Half a day away, whenever this runs.
    const cron = `0 ${String((new Date().getUTCHours() + 12) % 24)} * * *`;
    const spec = { operations: { windows: [{ cron, duration: "1h" }] } };
    await bench.apply(aCluster("logs", { pools, spec }));
    await bench.until("logs", isReady);
    const before = await podUids(bench);
    await bench.apply(aCluster("logs", { pools, spec, ...changed }));
    const waits = await bench.until("logs", (found) => conditionOf(found, "Ready") === "False/OutsideWindow");
    expect(waits.status?.operation).toBeUndefined();
    expect(await podUids(bench)).toEqual(before);
    const annotations = { "search.quartermaster.dev/skip-check": "insideWindow" };
    await bench.apply(aCluster("logs", { pools, spec, ...changed, annotations }));
    await untilRolled(bench);
    expect(await podUids(bench)).not.toEqual(before);
  });
});
