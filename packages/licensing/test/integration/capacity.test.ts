import { elasticsearchCluster } from "@quartermaster/api";
import { enterpriseLicense, licenseAssociation } from "@quartermaster/api/licensing";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { setUpBench, type LicenseBench } from "../support/license-bench.ts";

const capacityOk =
  (status: string) =>
  (license: {
    readonly status?:
      | { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined }
      | undefined;
  }): boolean =>
    license.status?.conditions?.some((each) => each.type === "CapacityOK" && each.status === status) ?? false;

async function bound(bench: LicenseBench): Promise<readonly string[]> {
  const { items } = await bench.client.listPage(licenseAssociation.kind, { namespace: bench.team });
  return items.map(({ spec }) => spec.clusterRef.name).toSorted();
}

describe("capacity", () => {
  test("[licensing/C1][licensing/C2] 3 and 4 of 10 are counted; a third of 4 is refused and the first two stay", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }], {
      allowedNamespaces: {},
      capacityPolicy: { mode: "Enforce" },
    });
    await bench.createCluster("a", { nodes: 3 });
    await bench.association("a-license", () => true);
    await bench.createCluster("b", { nodes: 4 });
    await bench.association("b-license", () => true);
    const two = await bench.enterprise("e", ({ status }) => status?.used === 7);
    expect(capacityOk("True")(two)).toBe(true);
    expect(two.status?.allocations).toMatchObject([
      { cluster: "a", amount: 3 },
      { cluster: "b", amount: 4 },
    ]);
    await bench.createCluster("c", { nodes: 4 });
    await eventually(async () => (await bench.events("c")).includes("CapacityExceeded") || undefined);
    expect(await bound(bench)).toEqual(["a", "b"]);
  });

  test("[licensing/C3] where it only warns a third of 4 is bound, flagged and reported once", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    for (const [name, nodes] of [
      ["a", 3],
      ["b", 4],
      ["c", 4],
    ] as const)
      await bench.createCluster(name, { nodes });
    const full = await bench.enterprise(
      "e",
      (license) => license.status?.used === 11 && capacityOk("False")(license),
    );
    expect(full.status).toMatchObject({ used: 11, limit: 10, peakUsed: 11 });
    await eventually(async () => (await bench.events("e")).includes("CapacityExceeded") || undefined);
    expect((await bench.events("e")).filter((reason) => reason === "CapacityExceeded")).toHaveLength(1);
  });

  test("[licensing/C8] a full license under Enforce: the free one", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e1", [{ uid: "p1" }], {
      maxInstances: 3,
      allowedNamespaces: {},
      capacityPolicy: { mode: "Enforce" },
    });
    await bench.createEnterprise("e2", [{ uid: "p2", daysLeft: 200 }], {
      allowedNamespaces: {},
      capacityPolicy: { mode: "Enforce" },
    });
    await bench.createCluster("a", { nodes: 3 });
    await bench.association("a-license", ({ spec }) => spec.source?.name === "e1");
    await bench.createCluster("b", { nodes: 3 });
    const second = await bench.association("b-license", ({ spec }) => spec.source !== undefined);
    expect(second.spec.source?.name).toBe("e2");
  });

  test("[licensing/C10] two clusters race for the last 3 places: exactly one is bound", async () => {
    await using bench = await setUpBench({ isOperating: false });
    await bench.createEnterprise("e", [{ uid: "p1" }], {
      maxInstances: 3,
      allowedNamespaces: {},
      capacityPolicy: { mode: "Enforce" },
    });
    await Promise.all(["a", "b"].map(async (name) => await bench.createCluster(name, { nodes: 3 })));
    await bench.operate();
    const refused = await eventually(async () => {
      const reports = await Promise.all(
        ["a", "b"].map(async (name) => ({ name, events: await bench.events(name) })),
      );
      return reports.find(({ events }) => events.includes("CapacityExceeded"))?.name;
    });
    expect(await bound(bench)).toEqual(["a", "b"].filter((name) => name !== refused));
  });

  test("[licensing/C11] a bound cluster that outgrows an enforced cap stays bound and is granted no more; what fits is granted, and one write does it", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }], {
      maxInstances: 5,
      allowedNamespaces: {},
      capacityPolicy: { mode: "Enforce" },
    });
    const resize = async (replicas: number): Promise<void> => {
      const ref = { namespace: bench.team, name: "a" };
      const { spec } = await bench.client.get(elasticsearchCluster.kind, ref);
      const nodePools = spec.nodePools.map((pool) => ({ ...pool, replicas }));
      const body = { spec: { nodePools } };
      await bench.client.patch(elasticsearchCluster.kind, ref, { patch: { kind: "merge", body } });
    };
    await bench.createCluster("a", { nodes: 3 });
    await bench.association("a-license", ({ spec }) => spec.source?.grantedNodes === 3);
    const position = await bench.cluster.audit.position();
    await resize(6);
    await bench.enterprise("e", capacityOk("False"));
    const still = await bench.association("a-license", () => true);
    expect(still.spec.source).toMatchObject({ name: "e", grantedNodes: 3 });
    await resize(5);
    await bench.association("a-license", ({ spec }) => spec.source?.grantedNodes === 5);
    await bench.enterprise("e", capacityOk("True"));
    const writes = (await bench.writes(position)).filter(
      ({ resource, subresource }) => resource === "licenseassociations" && subresource !== "status",
    );
    expect(writes).toHaveLength(1);
  });

  test("[licensing/C11] over the limit before it is enforced: the license stays, and so does the size", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }], { maxInstances: 2 });
    await bench.createCluster("a", { nodes: 3 });
    await bench.association("a-license", ({ spec }) => spec.source !== undefined);
    await bench.report("a", { capacity: { desiredNodes: 4, presentNodes: 3 } });
    await bench.client.patch(
      enterpriseLicense.kind,
      { namespace: bench.pool, name: "e" },
      {
        patch: {
          kind: "merge",
          body: { spec: { allowedNamespaces: {}, capacityPolicy: { mode: "Enforce" } } },
        },
      },
    );
    const kept = await bench.association("a-license", ({ spec }) => spec.source?.grantedNodes === 3);
    expect(kept.spec.source?.name).toBe("e");
  });

  test("[licensing/C7] a cluster that went to basic, as its label says, counts nothing", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    await bench.createCluster("a", { nodes: 5 });
    await bench.enterprise("e", ({ status }) => status?.used === 5);
    await bench.report("a", { license: { uid: "self", type: "basic", state: "Applied" } });
    await bench.client.patch(
      elasticsearchCluster.kind,
      { namespace: bench.team, name: "a" },
      {
        patch: {
          kind: "merge",
          body: { metadata: { labels: { "k8s.elastic.co/desired-license": "basic" } } },
        },
      },
    );
    await bench.enterprise("e", ({ status }) => status?.used === 0);
    expect(await bound(bench)).toEqual([]);
  });
});

describe("several licenses for one cluster", () => {
  const underPlatinum = { uid: "p1", type: "platinum", expiryTime: "2099-01-01T00:00:00Z", state: "Applied" };

  test("[licensing/A2] a user's gold beside the controller's platinum is superseded, with one event", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    await bench.createLicense("gold", { uid: "g1", type: "gold" });
    await bench.createCluster("logs");
    await bench.associate("mine", { clusterRef: { name: "logs" }, licenseRef: { name: "gold" } });
    await bench.association("logs-license", ({ spec }) => spec.licenseRef.uid === "p1");
    await bench.report("logs", { license: underPlatinum });
    await bench.association("logs-license", ({ status }) => status?.state === "Applied");
    const mine = await bench.association("mine", ({ status }) => status?.state === "Superseded");
    expect(mine.status?.message).toContain("p1");
    await eventually(async () => (await bench.events("mine")).includes("LicenseConflict") || undefined);
    expect(await bench.events("mine")).toEqual(["LicenseConflict"]);
  });

  test("[licensing/A6] an association to a missing license is rejected and the others still count", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    await bench.createCluster("logs");
    await bench.associate("lost", { clusterRef: { name: "logs" }, licenseRef: { name: "nowhere" } });
    const lost = await bench.association("lost", ({ status }) => status?.state === "Rejected");
    expect(lost.status?.reason).toBe("LicenseNotFound");
    await bench.association("logs-license", ({ status }) => status?.state === "Pending");
  });

  test("[licensing/N2] a namespace that is not allowed gets nothing until it has the label", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }], {
      allowedNamespaces: { matchLabels: { tier: "paid" } },
    });
    await bench.createCluster("logs");
    await eventually(async () => (await bench.events("logs")).includes("NoLicenseAvailable") || undefined);
    expect(await bound(bench)).toEqual([]);
    await bench.cluster.api.send({
      method: "PATCH",
      path: `/api/v1/namespaces/${bench.team}`,
      body: { metadata: { labels: { tier: "paid" } } },
      contentType: "application/merge-patch+json",
    } as never);
    await bench.association("logs-license", ({ spec }) => spec.licenseRef.uid === "p1");
  });
});
