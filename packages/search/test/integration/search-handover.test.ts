import { openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import type { Kind, Live } from "@quartermaster/runtime";
import {
  configMaps,
  persistentVolumeClaims,
  pods,
  secrets,
  services,
  statefulSets,
} from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { ownerLabels } from "../../src/owner-labels.ts";
import { allCrashes, liveAndDie } from "../support/live-and-die.ts";
import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const older: Kind<ClusterObject> = opsterOpenSearchCluster.kind;
const whenDeleted = { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" } };

/** In the newer group; what it deletes with itself is as destructive as can be. */
const newer = (changes: Parameters<typeof aCluster>[1] = {}): object =>
  aCluster("logs", { pools: [aPool("nodes", 2)], general: whenDeleted, ...changes });

const opster = (changes: Parameters<typeof aCluster>[1] = {}): object => ({
  ...newer(changes),
  apiVersion: "opensearch.opster.io/v1",
});

/** Everything that must survive, by kind and name, with its uid. */
async function belongings({ client, namespace }: SearchBench): Promise<Readonly<Record<string, string>>> {
  const kinds: readonly Kind[] = [pods, persistentVolumeClaims, secrets, services, statefulSets, configMaps];
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const found = await Array.fromAsync(
        client.list(kind, { namespace, labelSelector: ownerLabels.cluster }),
      );
      return found.map(({ metadata }) => [`${kind.kind} ${metadata.name}`, metadata.uid] as const);
    }),
  );
  return Object.fromEntries(lists.flat());
}

async function find({ client, namespace }: SearchBench): Promise<Live<ClusterObject> | undefined> {
  return await client.find(older, { namespace, name: "logs" });
}

async function gone(bench: SearchBench): Promise<void> {
  await eventually(async (see) => see(await find(bench)) === undefined, { withinMs: 60_000 });
}

async function remove({ client, namespace }: SearchBench): Promise<void> {
  await client.delete(older, { namespace, name: "logs" });
}

/** Nothing of it is the older object's: neither now nor after the garbage collector has passed. */
async function expectInherited(bench: SearchBench, before: Readonly<Record<string, string>>): Promise<void> {
  const { client, namespace } = bench;
  const ready = await bench.until("logs", isReady);
  expect(await belongings(bench)).toEqual(before);
  const set = await client.get(statefulSets, { namespace, name: "logs-nodes" });
  expect(set.metadata.ownerReferences).toMatchObject([{ uid: ready.metadata.uid, controller: true }]);
  const claims = await Array.fromAsync(client.list(persistentVolumeClaims, { namespace }));
  expect(claims.map(({ metadata }) => metadata.labels?.[ownerLabels.uid])).toEqual([
    ready.metadata.uid,
    ready.metadata.uid,
  ]);
}

describe("[security/105] a cluster changes hands from the older group to the newer one", () => {
  test("[security/105] a superseded object is deleted, as its status says: nothing is deleted or restarted with it", async () => {
    await using bench = await setUpSearch();
    await bench.apply(opster());
    const first = await bench.until("logs", isReady, older);
    const before = await belongings(bench);
    await bench.apply(newer());
    await bench.until(
      "logs",
      (found) =>
        conditionOf(found, "Stalled") === "True/SupersededByNewGroup" &&
        messageOf(found).includes("Deleting this one deletes nothing"),
      older,
    );
    await remove(bench);
    await gone(bench);
    await expectInherited(bench, before);
    expect((await bench.get("logs")).status?.clusterUuid).toBe(first.status?.clusterUuid);
    expect(bench.engines.engine("logs").uuids).toHaveLength(1);
    // What the newer one declares is carried out; fields of the older one do not stay behind.
    await bench.apply(newer({ pools: [aPool("nodes", 3)] }));
    await bench.until("logs", (found) => isReady(found) && found.status?.availableNodes === 3);
  });

  test("[security/105] deleted right after the newer one was created: it stays until everything has changed hands", async () => {
    await using bench = await setUpSearch();
    await bench.apply(opster());
    await bench.until("logs", isReady, older);
    const before = await belongings(bench);
    await bench.create(newer());
    await remove(bench);
    await gone(bench);
    await expectInherited(bench, before);
    expect(bench.engines.engine("logs").uuids).toHaveLength(1);
  });

  test("[security/105] while the newer one cannot take over, the finalizer of the older one stays and says why", async () => {
    await using bench = await setUpSearch();
    await bench.apply(opster());
    await bench.until("logs", isReady, older);
    const before = await belongings(bench);
    const wrong = { additionalConfig: { "cluster.name": "other" }, ...whenDeleted };
    await bench.apply(newer({ general: wrong }));
    await bench.until("logs", (found) => conditionOf(found, "Ready")?.startsWith("False/") === true);
    await remove(bench);
    await eventually(async (see) => {
      const message = see(messageOf((await find(bench)) ?? (await bench.get("logs"))));
      return message.includes("takes over what this one has: StatefulSet logs-nodes");
    });
    expect((await find(bench))?.metadata.finalizers).toEqual(["search.quartermaster.dev/cluster"]);
    expect(await belongings(bench)).toEqual(before);
    await bench.apply(newer());
    await gone(bench);
    await expectInherited(bench, before);
  });

  test("[security/105] a protected cluster does not pass to an object that is not protected", async () => {
    await using bench = await setUpSearch();
    const protectedSpec = { operations: { deletionProtection: true } };
    await bench.apply(opster({ spec: protectedSpec }));
    await bench.until("logs", isReady, older);
    const before = await belongings(bench);
    await bench.apply(newer());
    const refused = await bench.until("logs", (found) => conditionOf(found, "Stalled") === "True/Handover");
    expect(messageOf(refused)).toContain("Set spec.operations.deletionProtection here too");
    await bench.client.delete(openSearchCluster.kind, { namespace: bench.namespace, name: "logs" });
    await bench.until("logs", isReady, older);
    expect(await belongings(bench)).toEqual(before);
    await bench.apply(newer({ spec: protectedSpec }));
    await bench.until("logs", isReady);
    expect(await belongings(bench)).toEqual(before);
  });

  test("[security/105] the operator is killed after each write of it", { timeout: 8 * 60_000 }, async () => {
    await using bench = await setUpSearch();
    await bench.apply(opster());
    await bench.until("logs", isReady, older);
    const before = await belongings(bench);
    await bench.stop();
    await bench.apply(newer());
    await remove(bench);
    await liveAndDie(
      bench,
      allCrashes[0],
      async () => (await find(bench)) === undefined && isReady(await bench.get("logs")),
    );
    await bench.operate();
    await expectInherited(bench, before);
    expect(bench.engines.engine("logs").uuids).toHaveLength(1);
  });
});
