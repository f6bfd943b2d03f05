import { openSearchCluster } from "@quartermaster/api";
import type { Live } from "@quartermaster/runtime";
import { hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { leanJvm } from "./engine-pods.ts";
import { isReady, type RealSearch, startRealSearch } from "./real-search.ts";

const minute = 60_000;
const namespace = "team";
const name = "logs";
const { kind } = openSearchCluster;
const pool = { diskSize: "1Gi", jvm: leanJvm };
/** Of two cores: eight clients make a node take far more than this on a quiet machine, one that rests between requests 3 to 5 %. */
const autoscaling = {
  mode: "Auto",
  minReplicas: 2,
  maxReplicas: 3,
  metrics: [{ type: "Cpu", target: 15 }],
  scaleUp: { stabilizationSeconds: 60, maxStep: 1, cooldownSeconds: 60 },
  scaleDown: { stabilizationSeconds: 120, maxStep: 1, cooldownSeconds: 60 },
};
const declared = {
  apiVersion: "opensearch.org/v1",
  kind: "OpenSearchCluster",
  metadata: { name, namespace },
  spec: {
    general: { serviceName: name, version: "2.19.4" },
    nodePools: [
      { ...pool, component: "managers", replicas: 1, roles: ["cluster_manager"] },
      { ...pool, component: "data", replicas: 2, roles: ["data", "ingest"], autoscaling },
    ],
  },
};
const copies = { number_of_shards: 2, number_of_replicas: 1 };

/** It takes minutes of load: `make campaign`. */
const isCampaign = process.env["QM_CAMPAIGN"] === "1";

describe.runIf(isCampaign && hasRealNodes())("auto-scaling under load, on real nodes", () => {
  let real: RealSearch;

  beforeAll(async () => {
    real = await startRealSearch({
      kind,
      namespace,
      name,
      nodes: 2,
      engine: "opensearch",
      version: "2.19.4",
    });
  }, 15 * minute);

  afterAll(async () => {
    await real?.[Symbol.asyncDispose]();
  });

  function hasDataNodes(count: number): (found: Live<ClusterObject>) => boolean {
    return (found) => {
      const { autoscaling: decided, availableNodes, operation } = found.status ?? {};
      const isDecided = decided?.pools?.[0]?.target === count;
      return isDecided && isReady(found) && availableNodes === count + 1 && operation === undefined;
    };
  }

  test(
    "a data node is added under load, drained and removed when the load has gone: no request fails, no document is lost, never red",
    async () => {
      await real.apply(declared);
      await real.until((found) => isReady(found) && found.status?.health === "green");
      const steady = await real.load("orders", copies, { clients: 1, pauseMs: 250 });
      const startMs = performance.now();
      const seconds = (): number => Math.round((performance.now() - startMs) / 1000);
      const peak = await real.load("clicks", copies, { clients: 8 });
      await real.until(hasDataNodes(3));
      const grownAfter = seconds();
      const clicks = await peak.end();
      expect(clicks).toMatchObject({ failed: [], lost: [], red: 0 });
      await real.until(hasDataNodes(2));
      const shrunkAfter = seconds();
      expect(await steady.end()).toMatchObject({ failed: [], lost: [], red: 0 });
      await real.request("/clicks/_refresh", { method: "POST" });
      const { body } = await real.request("/clicks/_count");
      expect(JSON.parse(body)).toMatchObject({ count: clicks.written });
      const settings = await real.request("/_cluster/settings?flat_settings=true");
      expect(JSON.parse(settings.body)).toEqual({ persistent: {}, transient: {} });
      const metrics = { grownAfter, shrunkAfter, written: clicks.written + steady.written };
      process.stdout.write(`${JSON.stringify(metrics)}\n`);
    },
    20 * minute,
  );
});
