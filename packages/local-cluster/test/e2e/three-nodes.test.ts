import { existsSync } from "node:fs";

import { hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { LocalCluster } from "../../src/index.ts";
import { startLocalCluster } from "../../src/index.ts";
import { eventually } from "../integration/eventually.ts";
import {
  apply,
  kubectl,
  read,
  untilExec,
  untilNodeReadyIs,
  untilPodReady,
  webService,
  webStatefulSet,
} from "./workloads.ts";
import type { Pod } from "./workloads.ts";

const PODS = ["db-0", "db-1", "db-2"];

describe.runIf(hasRealNodes())("a cluster with three real nodes in three zones", () => {
  let cluster: LocalCluster;

  beforeAll(async () => {
    cluster = await startLocalCluster({ nodes: [{ zone: "a" }, { zone: "b" }, { zone: "c" }] });
    await apply(
      cluster,
      webService("db", "db", true),
      webStatefulSet("db", 3, "hostname >> /www/index.html"),
    );
    await Promise.all(PODS.map(async (name) => await untilPodReady(cluster, name)));
  });

  afterAll(async () => {
    await cluster?.stop();
  });

  test("[local-cluster/LC-21] nodes carry their zones", async () => {
    const zones = await kubectl(
      cluster,
      "get",
      "nodes",
      "-o",
      "jsonpath={.items[*].metadata.labels.topology\\.kubernetes\\.io/zone}",
    );
    expect(zones).toBe("a b c");
  });

  test("[local-cluster/LC-21] pods that avoid each other land on three nodes", async () => {
    const pods = await Promise.all(PODS.map(async (name) => await read<Pod>(cluster, "pod", name)));
    expect(pods.map(({ spec }) => spec.nodeName ?? "").toSorted()).toEqual(["node-1", "node-2", "node-3"]);
  });

  test("[local-cluster/LC-21] every pod reaches every other across nodes", async () => {
    for (const from of PODS) {
      for (const to of PODS)
        expect(await untilExec(cluster, from, `wget -qO- http://${to}.db:8080`)).toBe(`${to}\n`);
    }
  });

  test("[local-cluster/LC-22] a pod that is deleted finds its data again on the same node", async () => {
    const before = await read<Pod>(cluster, "pod", "db-1");
    await kubectl(cluster, "delete", "pod", "db-1");
    const after = await untilPodReady(cluster, "db-1", before.metadata.uid);
    expect(after.spec.nodeName).toBe(before.spec.nodeName);
    expect(await untilExec(cluster, "db-1", "cat /www/index.html")).toBe("db-1\ndb-1\n");
  });

  test("[local-cluster/LC-22] a volume goes with its claim, and its data with it", async () => {
    await kubectl(cluster, "scale", "statefulset", "db", "--replicas=2");
    await kubectl(cluster, "wait", "--for=delete", "pod/db-2", "--timeout=60s");
    const volume = await kubectl(cluster, "get", "pvc", "data-db-2", "-o", "jsonpath={.spec.volumeName}");
    const path = await kubectl(cluster, "get", "pv", volume, "-o", "jsonpath={.spec.local.path}");
    expect(path.startsWith(cluster.directory)).toBe(true);
    expect(existsSync(path)).toBe(true);
    await kubectl(cluster, "delete", "pvc", "data-db-2");
    await eventually(
      async () =>
        !existsSync(path) && (await cluster.kubectl(["get", "pv", volume])).code !== 0 ? true : undefined,
      () => `${path} exists: ${existsSync(path)}`,
    );
  });

  test("[local-cluster/LC-23] a node that is cut off becomes NotReady and comes back when it is restored", async () => {
    const node = cluster.nodes[1];
    await node?.cutOff();
    await untilNodeReadyIs(cluster, "node-2", "Unknown");
    expect(node?.kubelet.isRunning()).toBe(true);
    await untilNodeReadyIs(cluster, "node-1", "True");
    await node?.restore();
    await untilNodeReadyIs(cluster, "node-2", "True");
  });
});
