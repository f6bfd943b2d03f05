import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

import { openSearchCluster } from "@quartermaster/api";
import { isControlledBy, type KubeObject } from "@quartermaster/runtime";
import { persistentVolumeClaims, pods, secrets, services, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { ownedKinds } from "../../src/handover/predecessor.ts";
import { ownerLabels } from "../../src/owner-labels.ts";
import { operateWatched } from "../support/disruptions.ts";
import { aCluster, aPool, conditionOf, isReady, messageOf, setUpSearch } from "../support/search-bench.ts";

const settled =
  process.env["QM_CAMPAIGN"] === "1" ? { clusters: 200, forMs: 600_000 } : { clusters: 5, forMs: 35_000 };

/** Every lane of an OpenSearch, in the order in which they count. */
const lanesOfOpenSearch = [
  "formation",
  "protection",
  "nodes",
  "janitor",
  "certificates",
  "security",
  "pools",
  "attributes",
  "autoscaling",
  "clusterSettings",
  "repositories",
  "objects",
  "dashboards",
  "monitoring",
];

describe("a cluster that is as declared", () => {
  test(
    "[search/SC-109] [faults/O10] costs nothing: no request to the API server, no reconcile, one request a sample to the engine",
    async () => {
      await using bench = await setUpSearch();
      const names = Array.from({ length: settled.clusters }, (_, at) => `c${String(at)}`);
      for (const name of names) await bench.apply(aCluster(name, { pools: [aPool("nodes", 1)] }));
      for (const name of names) await bench.until(name, isReady);
      // The last status may still be on its way back.
      await sleep(3_000);
      const position = await bench.cluster.audit.position();
      const [before, reconciles] = [bench.engines.calls.length, bench.reconciles()];
      await sleep(settled.forMs);
      expect(bench.reconciles() - reconciles).toBe(0);
      const entries = await bench.cluster.audit.since(position, {});
      const ours = entries.filter(
        ({ user, verb }) => user.endsWith(`:${bench.namespace}:operator`) && verb !== "watch",
      );
      expect(ours.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([]);
      const calls = bench.engines.calls.slice(before);
      expect(new Set(calls)).toEqual(new Set(["health"]));
      // Two a minute, and one for the minute that is not whole.
      expect(calls.length).toBeLessThanOrEqual((Math.floor(settled.forMs / 30_000) + 1) * names.length);
    },
    settled.forMs + settled.clusters * 5_000 + 120_000,
  );

  test("a new operator writes nothing", async () => {
    await using bench = await setUpSearch();
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
    // What follows Ready, e.g. what the nodes serve by now, is the first operator's to write.
    await eventually(async (see) => {
      const before = await bench.cluster.audit.position();
      await sleep(3_000);
      return see(await bench.writes(before)).length === 0;
    });
    await bench.stop();
    const position = await bench.cluster.audit.position();
    await bench.operate();
    await eventually(() => bench.engines.calls.length > 0 || undefined);
    await sleep(3_000);
    expect((await bench.writes(position)).map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([]);
  });

  test("renew-certificates issues every certificate again, once per value; no pod is touched", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const requested = (value: string): object =>
      aCluster("logs", {
        pools: [aPool("nodes", 1)],
        annotations: { "search.quartermaster.dev/renew-certificates": value },
      });
    const certificates = async (): Promise<readonly string[]> =>
      await Promise.all(
        ["transport", "http", "admin"].map(async (certificate) => {
          const { data } = await client.get(secrets, { namespace, name: `logs-${certificate}-cert` });
          return data?.["tls.crt"] ?? "";
        }),
      );
    await bench.apply(requested("monday"));
    await bench.until("logs", (found) => isReady(found) && found.status?.certificates?.renewed === "monday");
    const first = await certificates();
    const pod = await client.get(pods, { namespace, name: "logs-nodes-0" });
    const position = await bench.cluster.audit.position();
    await bench.apply(requested("tuesday"));
    await bench.until("logs", (found) => isReady(found) && found.status?.certificates?.renewed === "tuesday");
    const second = await certificates();
    expect(second.filter((certificate) => first.includes(certificate))).toEqual([]);
    const written = (await bench.writes(position)).filter(({ resource }) => resource === "secrets");
    expect(written).toHaveLength(3);
    const after = await client.get(pods, { namespace, name: "logs-nodes-0" });
    expect(after.metadata.uid).toBe(pod.metadata.uid);
  });

  test("another version is held, and says so; no pod is touched, and one that dies comes back as it was", async () => {
    await using bench = await setUpSearch();
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)], general: { version: "2.19.5" } }));
    const held = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/OperationNotSupportedYet",
    );
    expect(messageOf(held)).toContain("does not upgrade to 2.19.5 yet");
    const ref = { namespace: bench.namespace, name: "logs-nodes-0" };
    const before = await bench.client.get(pods, ref);
    await bench.client.delete(pods, ref);
    const after = await eventually(async () => {
      const found = await bench.client.find(pods, ref);
      return found === undefined || found.metadata.uid === before.metadata.uid ? undefined : found;
    });
    expect(after.spec.containers[0]?.image).toBe(before.spec.containers[0]?.image);
  });

  test("[security/109] an image of another version is held like one; another build of the same version is rolled out", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const object = (general: object): object => aCluster("logs", { pools: [aPool("nodes", 1)], general });
    const images = async (): Promise<readonly unknown[]> =>
      (await Array.fromAsync(client.list(pods, { namespace }))).map(({ spec }) => spec.containers[0]?.image);
    await bench.apply(object({ image: "own/opensearch:3.0.0" }));
    const refused = await bench.until("logs", (found) => conditionOf(found, "Ready") === "False/InvalidSpec");
    expect(messageOf(refused)).toContain("spec.general.image has the tag of version 3.0.0");
    await bench.apply(object({ image: "own/opensearch:2.19.4" }));
    await bench.until("logs", isReady);
    await bench.apply(object({ image: "own/opensearch:3.0.0" }));
    const held = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/OperationNotSupportedYet",
    );
    expect(messageOf(held)).toContain("does not upgrade to 3.0.0 yet");
    const set = await client.get(statefulSets, { namespace, name: "logs-nodes" });
    expect(set.spec.template.spec?.containers[0]?.image).toBe("own/opensearch:2.19.4");
    expect(await images()).toEqual(["own/opensearch:2.19.4"]);
    await bench.apply(object({ image: "own/opensearch:2.19.4-r2" }));
    await bench.until("logs", isReady);
    await eventually(async (see) => see(await images()).join() === "own/opensearch:2.19.4-r2");
  });

  test("[search/SC-15] more managers in mid-bootstrap: the list stays as it was, and all join", async () => {
    await using bench = await setUpSearch();
    for (const ordinal of [0, 1, 2]) bench.engines.down.add(`logs-nodes-${String(ordinal)}`);
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 3)] }));
    const pinned = await bench.until(
      "logs",
      (found) => found.status?.bootstrap?.initialManagers?.length === 3,
    );
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 5)] }));
    await bench.until("logs", (found) => found.status?.nodePools?.[0]?.target === 5);
    bench.engines.down.clear();
    const ready = await bench.until("logs", isReady);
    expect(ready.status?.bootstrap?.initialManagers).toEqual(pinned.status?.bootstrap?.initialManagers);
    expect(ready.status?.availableNodes).toBe(5);
    expect(bench.engines.engine("logs").uuids).toHaveLength(1);
  });

  test("[search/SC-113] [faults/10] the operator is cut off in mid-drain: Unreachable within 30 s, nothing is destroyed in ten minutes, and it continues after", async () => {
    await using bench = await setUpSearch({ isOperating: false, clockRate: 4 });
    await using operator = await operateWatched(bench);
    const sized = (replicas: number): object => aCluster("logs", { pools: [aPool("nodes", replicas)] });
    await bench.apply(sized(3));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-nodes-0", { name: "orders", shards: 4, replicas: 1, documents: 100 });
    engine.holdsShards.add("logs-nodes-2");
    await bench.apply(sized(2));
    const { status } = await bench.until(
      "logs",
      (found) => found.status?.operation?.shardsLeft !== undefined,
    );
    bench.engines.cut();
    engine.holdsShards.clear();
    const isCutOff = async (): Promise<boolean> =>
      conditionOf(await bench.get("logs"), "Available") === "False/Unreachable";
    await eventually(isCutOff, { withinMs: 30_000 });
    const position = await bench.cluster.audit.position();
    // Meanwhile the node becomes empty, which the operator cannot know.
    bench.clock.advance(10 * 60_000);
    await bench.reconcile("logs", 4);
    expect(await isCutOff()).toBe(true);
    expect(operator.disruptions).toEqual([]);
    const written = (await bench.writes(position)).filter(
      ({ resource }) => resource !== "opensearchclusters",
    );
    expect(written).toEqual([]);
    expect((await bench.get("logs")).status?.operation?.id).toBe(status?.operation?.id);
    bench.engines.reconnect();
    await bench.until("logs", (found) => isReady(found) && found.status?.availableNodes === 2);
    expect(operator.disruptions).toMatchObject([{ nodes: ["logs-nodes-2"], away: [], onlyCopies: [] }]);
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
  });

  test("[search/SC-119] each lane is mirrored for old readers, and what others write there is not read back", async () => {
    await using bench = await setUpSearch();
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    const ready = await bench.until("logs", isReady);
    const mirror = lanesOfOpenSearch.map((component) => ({ component, status: "Ready" }));
    expect(ready.status?.componentsStatus).toEqual(mirror);
    bench.engines.cut();
    await bench.client.delete(pods, { namespace: bench.namespace, name: "logs-nodes-0" });
    const away = await bench.until("logs", (found) => conditionOf(found, "Ready") === "False/Unreachable");
    const reasons = new Map(away.status?.blockers?.map(({ lane, reason }) => [lane, reason]));
    expect(reasons.get("nodes")).toBe("Unreachable");
    expect(away.status?.componentsStatus).toEqual(
      lanesOfOpenSearch.map((component) => ({ component, status: reasons.get(component) ?? "Ready" })),
    );
    bench.engines.reconnect();
    await bench.until("logs", isReady);
    const position = await bench.cluster.audit.position();
    const body = { status: { componentsStatus: [{ component: "nodes", status: "Upgrading" }] } };
    await bench.client.patch(
      openSearchCluster.kind,
      { namespace: bench.namespace, name: "logs" },
      { patch: { kind: "merge", body }, subresource: "status" },
    );
    await bench.until("logs", (found) => isDeepStrictEqual(found.status?.componentsStatus, mirror));
    const written = (await bench.writes(position)).filter(({ subresource }) => subresource !== "status");
    expect(written).toEqual([]);
  });

  test("[search/SC-121] everything that the operator makes is owned by the cluster, but for the CA and passwords; claims have no owner; what is deleted comes back", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const position = await bench.cluster.audit.position();
    await bench.apply(
      aCluster("logs", {
        pools: [aPool("nodes", 1)],
        general: { monitoring: { enable: true, stack: { mode: "Standalone" } } },
        spec: { dashboards: { enable: true, tls: { enable: true, generate: true } } },
      }),
    );
    const ready = await bench.until("logs", isReady);
    const made = new Set(
      (await bench.writes(position))
        .filter(({ resource, code }) => resource !== "opensearchclusters" && code < 300)
        .map(({ resource }) => resource),
    );
    const kinds = [...ownedKinds, secrets].filter(({ plural }) => made.has(plural));
    // Claims are made by StatefulSets; the operator only writes into them which cluster they hold.
    made.delete("persistentvolumeclaims");
    expect(kinds.map(({ plural }) => plural).toSorted()).toEqual([...made].toSorted());
    const all = await Promise.all(
      kinds.map(async (kind) => await Array.fromAsync(client.list(kind, { namespace }))),
    );
    const ours = all.flat().filter(({ metadata }) => metadata.labels?.[ownerLabels.cluster] === "logs");
    expect(ours.length).toBeGreaterThan(20);
    const unowned = ours.filter(({ metadata }) => !isControlledBy({ metadata } as KubeObject, ready));
    expect(unowned.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      "logs-admin-password",
      "logs-ca",
      "logs-dashboards-password",
      "logs-grafana-password",
      "logs-monitoring-password",
    ]);
    const claims = await Array.fromAsync(client.list(persistentVolumeClaims, { namespace }));
    expect(claims.flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
    const guide = readFileSync(
      join(import.meta.dirname, "../../../../docs/guides/search-operate.md"),
      "utf8",
    );
    expect(guide).toContain("no owner reference, so that no cascading delete");
    const service = await client.get(services, { namespace, name: "logs" });
    await client.delete(services, service.metadata);
    const again = await eventually(async () => await client.find(services, { namespace, name: "logs" }));
    expect(again.metadata.uid).not.toBe(service.metadata.uid);
  });
});
