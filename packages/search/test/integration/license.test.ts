import { elasticsearchCluster } from "@quartermaster/api";
import { clusterLicense, licenseAssociation, SIGNATURE_SECRET_TYPE } from "@quartermaster/api/licensing";
import { controllerReference } from "@quartermaster/runtime";
import { secrets, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  aPool,
  anElasticsearch,
  conditionOf,
  isReady,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";
import { aSignature } from "../support/signatures.ts";

const { kind } = elasticsearchCluster;
const good = aSignature();
const wrong = aSignature({ isVendors: false });

const options = { fieldManager: "tests", force: true };

async function sign({ client, namespace }: SearchBench, name: string, signature = good): Promise<void> {
  await client.apply(
    secrets,
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `${name}-signature`, namespace },
      type: SIGNATURE_SECRET_TYPE,
      data: { signature: Buffer.from(signature).toString("base64") },
    },
    options,
  );
}

interface License {
  readonly name: string;
  readonly uid: string;
  readonly type?: "gold" | "platinum";
  readonly signature?: string;
  /** Default: in 2030. */
  readonly expiryMs?: number;
  /** Default: true. */
  readonly isSigned?: boolean;
}

async function license(
  bench: SearchBench,
  { name, uid, type = "gold", signature = good, isSigned = true, expiryMs = 1_914_278_399_999 }: License,
): Promise<void> {
  if (isSigned) await sign(bench, name, signature);
  const { client, namespace } = bench;
  await client.apply(
    clusterLicense.kind,
    {
      apiVersion: "elasticsearch.k8s.elastic.co/v1alpha1",
      kind: "ClusterLicense",
      metadata: { name, namespace },
      spec: {
        uid,
        type,
        issueDate: 1_411_948_800_000,
        expiryDate: expiryMs,
        maxNodes: 10,
        issuedTo: "Example Corp.",
        issuer: "API",
        signatureRef: { name: `${name}-signature` },
      },
    },
    options,
  );
}

/** The licensing controller's choice for the cluster. */
async function choose({ client, namespace }: SearchBench, name: string, uid: string): Promise<void> {
  await client.apply(
    licenseAssociation.kind,
    {
      apiVersion: "elasticsearch.k8s.elastic.co/v1alpha1",
      kind: "LicenseAssociation",
      metadata: { name: "docs-license", namespace },
      spec: {
        clusterRef: { name: "docs" },
        licenseRef: { kind: "ClusterLicense", name, uid },
        origin: "Controller",
        pinned: false,
      },
    },
    options,
  );
}

/** The ClusterLicense goes, and the cluster wants basic then. */
async function lose({ client, namespace }: SearchBench): Promise<void> {
  const annotations = {
    "license.k8s.elastic.co/on-license-loss": "RevertToBasic",
    "license.k8s.elastic.co/allow-downgrade": "true",
  };
  const patch = { kind: "merge", body: { metadata: { annotations } } } as const;
  await client.patch(kind, { namespace, name: "docs" }, { patch });
  await client.delete(clusterLicense.kind, { namespace, name: "docs" });
}

async function ready(bench: SearchBench): Promise<void> {
  await bench.apply(anElasticsearch("docs", { pools: [aPool("nodes", 1)] }));
  await bench.until("docs", isReady, kind);
}

function puts({ engines }: SearchBench): number {
  return engines.calls.filter((call) => call === "putLicense").length;
}

const redHealth = {
  status: "red",
  nodes: 1,
  dataNodes: 1,
  activeShards: 0,
  relocatingShards: 0,
  initializingShards: 0,
  unassignedShards: 1,
  pendingTasks: 0,
};

describe("the license of an Elasticsearch cluster", () => {
  test("[search/SC-102][licensing/A9] a ClusterLicense of the cluster's name is applied to a red cluster by one call; lost for 15 minutes, it makes way for basic", async () => {
    await using bench = await setUpSearch();
    await ready(bench);
    bench.engines.engine("docs").faults.plan({ call: "health", fault: { kind: "lie", value: redHealth } });
    await bench.until("docs", (each) => conditionOf(each, "Available") === "False/ClusterRed", kind);
    await license(bench, { name: "docs", uid: "gold-1" });
    const found = await bench.until("docs", (each) => each.status?.license?.uid === "gold-1", kind);
    expect(found.status?.license).toMatchObject({
      type: "gold",
      state: "Applied",
      expiryTime: "2030-08-29T23:59:59Z",
    });
    expect(conditionOf(found, "LicenseApplied")).toBe("True/AsDeclared");
    expect(puts(bench)).toBe(1);
    await lose(bench);
    const lost = await bench.until("docs", (each) => each.status?.license?.lostSince !== undefined, kind);
    expect(lost.status?.license).toMatchObject({
      uid: "gold-1",
      clusterLicense: "docs",
      reason: "LicenseLost",
    });
    const location = { namespace: bench.namespace, name: "docs" };
    // An hour passes.
    const lostSince = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+Z/, "Z");
    const body = { status: { license: { lostSince } } };
    await bench.client.patch(kind, location, { patch: { kind: "merge", body }, subresource: "status" });
    const basic = await bench.until("docs", (each) => each.status?.license?.type === "basic", kind);
    expect(basic.status?.license).not.toHaveProperty("clusterLicense");
    expect(bench.engines.calls.filter((call) => call === "startBasic")).toHaveLength(1);
  });

  test("[search/SC-102][licensing/P12] an expired license is no bad health, and the next one is applied by one call", async () => {
    await using bench = await setUpSearch();
    await ready(bench);
    const { faults } = bench.engines.engine("docs");
    faults.plan({ call: "health", fault: { kind: "throw", code: "licenseExpired" } });
    const expired = await bench.until(
      "docs",
      (each) => conditionOf(each, "Available") === "Unknown/LicenseExpired",
      kind,
    );
    expect(expired.status?.blockers ?? []).toEqual([]);
    await license(bench, { name: "docs", uid: "gold-2" });
    await bench.until(
      "docs",
      (each) => each.status?.license?.state === "Applied" && each.status.license.uid === "gold-2",
      kind,
    );
    faults.clear();
    await bench.until("docs", (each) => conditionOf(each, "Available") === "True/Serving", kind);
    expect(puts(bench)).toBe(1);
  });

  test("[faults/43] the license API fails for ten minutes: the status keeps the license that was applied last, one attempt a minute is made, and the next license is applied within a minute after", async () => {
    await using bench = await setUpSearch();
    await ready(bench);
    await license(bench, { name: "docs", uid: "gold-1" });
    await bench.until("docs", (each) => each.status?.license?.uid === "gold-1", kind);
    const { faults } = bench.engines.engine("docs");
    faults.plan({ call: "putLicense", fault: { kind: "throw", code: "unavailable" } });
    await license(bench, { name: "docs", uid: "gold-2" });
    await eventually(() => puts(bench) === 2 || undefined);
    for (let passed = 1; passed <= 10; passed += 1) {
      bench.clock.advance(60_000);
      await bench.apply(
        anElasticsearch("docs", { pools: [aPool("nodes", 1)], annotations: { minute: String(passed) } }),
      );
      await eventually(() => puts(bench) > passed + 1 || undefined);
      const { status } = await bench.get("docs", kind);
      expect(status?.license).toMatchObject({ uid: "gold-1", state: "Pending" });
    }
    expect(puts(bench)).toBeLessThanOrEqual(12);
    faults.clear();
    bench.clock.advance(50_000);
    const recovered = await bench.until("docs", (each) => each.status?.license?.uid === "gold-2", kind);
    expect(conditionOf(recovered, "LicenseApplied")).toBe("True/AsDeclared");
  });

  test("[faults/44] a license ends while the operator is away: on its return the best valid one is applied by one call", async () => {
    await using bench = await setUpSearch();
    await ready(bench);
    const day = 86_400_000;
    await license(bench, { name: "docs", uid: "gold-1", expiryMs: Date.now() + 10 * day });
    await bench.until("docs", (each) => each.status?.license?.uid === "gold-1", kind);
    await bench.stop();
    const before = puts(bench);
    bench.clock.advance(11 * day);
    await license(bench, { name: "docs-pool", uid: "pool-1", type: "platinum" });
    await choose(bench, "docs-pool", "pool-1");
    await bench.operate();
    await bench.until("docs", (each) => each.status?.license?.uid === "pool-1" && isReady(each), kind);
    bench.clock.advance(day);
    await bench.apply(
      anElasticsearch("docs", { pools: [aPool("nodes", 1)], general: { networkPolicy: { enable: false } } }),
    );
    const found = await bench.until("docs", isReady, kind);
    expect(found.status?.license).toMatchObject({ uid: "pool-1", state: "Applied" });
    expect(puts(bench) - before).toBe(1);
  });

  test("a license that the engine refuses is sent once, and named; a corrected one is sent again", async () => {
    await using bench = await setUpSearch();
    await ready(bench);
    await license(bench, { name: "docs", uid: "gold-3", signature: wrong });
    const refused = await bench.until("docs", (each) => each.status?.license?.state === "Rejected", kind);
    expect(conditionOf(refused, "LicenseApplied")).toBe("False/RejectedByCluster");
    expect(refused.status?.license).toMatchObject({
      type: "basic",
      rejected: [{ uid: "gold-3", message: "invalid" }],
    });
    expect(JSON.stringify(refused.status)).not.toContain(wrong);
    await bench.stop();
    await bench.operate();
    const general = { networkPolicy: { enable: false } };
    await bench.apply(anElasticsearch("docs", { pools: [aPool("nodes", 1)], general }));
    await bench.until(
      "docs",
      (each) => conditionOf(each, "LicenseApplied") === "False/RejectedByCluster",
      kind,
    );
    expect(puts(bench)).toBe(1);
    await license(bench, { name: "docs", uid: "gold-3" });
    const taken = await bench.until("docs", (each) => each.status?.license?.uid === "gold-3", kind);
    expect(taken.status?.license?.rejected).toBeUndefined();
    expect(puts(bench)).toBe(2);
  });

  test("[licensing/A10][licensing/P14] the controller's choice is applied once its signature is there, and a lower direct one is not", async () => {
    await using bench = await setUpSearch();
    await ready(bench);
    await license(bench, { name: "docs-pool", uid: "pool-1", type: "platinum", isSigned: false });
    await choose(bench, "docs-pool", "pool-1");
    await bench.until(
      "docs",
      (each) => conditionOf(each, "LicenseApplied") === "False/SignatureMissing",
      kind,
    );
    await sign(bench, "docs-pool");
    const found = await bench.until("docs", (each) => each.status?.license?.uid === "pool-1", kind);
    expect(found.status?.license).toMatchObject({ state: "Applied", clusterLicense: "docs-pool" });
    await license(bench, { name: "docs", uid: "direct-1" });
    await bench.apply(
      anElasticsearch("docs", { pools: [aPool("nodes", 1)], general: { networkPolicy: { enable: false } } }),
    );
    const after = await bench.until("docs", isReady, kind);
    expect(after.status?.license).toMatchObject({ uid: "pool-1", state: "Applied" });
    expect(puts(bench)).toBe(1);
  });

  test("[licensing/C11] growth beyond what an enforced license has room for is held, and continues when there is room", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await ready(bench);
    const cluster = await bench.get("docs", kind);
    const grant = async (grantedNodes: number): Promise<void> => {
      await client.apply(
        licenseAssociation.kind,
        {
          apiVersion: "elasticsearch.k8s.elastic.co/v1alpha1",
          kind: "LicenseAssociation",
          metadata: { name: "docs-license", namespace, ownerReferences: [controllerReference(cluster)] },
          spec: {
            clusterRef: { name: "docs" },
            licenseRef: { kind: "ClusterLicense", name: "docs-pool" },
            origin: "Controller",
            pinned: false,
            source: {
              namespace: "licenses",
              name: "e",
              uid: "p1",
              since: "2026-11-17T10:00:00Z",
              grantedNodes,
            },
          },
        },
        options,
      );
    };
    await grant(1);
    await bench.apply(anElasticsearch("docs", { pools: [aPool("nodes", 2)] }));
    const held = await bench.until(
      "docs",
      (found) => found.status?.blockers?.some(({ reason }) => reason === "CapacityExceeded") === true,
      kind,
    );
    expect(held.status).toMatchObject({ capacity: { desiredNodes: 2, presentNodes: 1 } });
    const set = await client.get(statefulSets, { namespace, name: "docs-nodes" });
    expect(set.spec.replicas).toBe(1);
    await grant(2);
    await bench.until("docs", (found) => isReady(found) && found.status?.availableNodes === 2, kind);
  });
});
