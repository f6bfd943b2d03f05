import { licenseParameters } from "@quartermaster/license-selection";
import { describe, expect, test } from "vitest";

import { KnownClusters } from "../../src/known-clusters.ts";
import { enterpriseReport } from "../../src/pool/enterprise-report.ts";
import { readPoolLicense } from "../../src/pool/license-pool.ts";
import { aCluster, anEnterprise, nowMs, theSignatures } from "../support/license-objects.ts";

type Allocation = Parameters<typeof enterpriseReport>[1][number];

function allocations(count: number, nodes = 1): readonly Allocation[] {
  return ["a", "b", "c", "d"].slice(0, count).map((name) => {
    const association = { spec: { licenseRef: { uid: `${name}-license` } } };
    return { association, cluster: aCluster(name), need: { nodes, bytes: 0 } } as unknown as Allocation;
  });
}

function report(
  used: readonly Allocation[],
  {
    policy = {},
    before,
  }: { readonly policy?: object; readonly before?: Parameters<typeof enterpriseReport>[2]["before"] } = {},
) {
  const license = anEnterprise("e", ["p1"], { capacityPolicy: { mode: "Warn", limit: 3, ...policy } });
  const secret = theSignatures(license);
  const read = readPoolLicense(license, { licenseNamespace: "licenses", secretOf: () => secret });
  return enterpriseReport(read, used, { nowMs, parameters: licenseParameters, before });
}

describe("what is reported of the clusters under an EnterpriseLicense", () => {
  test.each([0, 1, 2, 3, 4])("counts all of %i clusters and names each", (count) => {
    const { status } = report(allocations(count));
    expect(status.used).toBe(count);
    expect(status.allocations?.map(({ cluster, uid, amount }) => [cluster, uid, amount])).toEqual(
      ["a", "b", "c", "d"].slice(0, count).map((name) => [name, `${name}-license`, 1]),
    );
  });

  test.each([
    { name: "at the limit", count: 3, policy: {}, isExceeded: false },
    { name: "beyond the limit", count: 4, policy: {}, isExceeded: true },
    { name: "within the overdraft", count: 4, policy: { overdraftPercent: 34 }, isExceeded: false },
    { name: "where it only reports", count: 4, policy: { mode: "Report" }, isExceeded: false },
  ])("says that capacity is exceeded $name: $isExceeded", ({ count, policy, isExceeded }) => {
    const { conditions, events } = report(allocations(count), { policy });
    const found = conditions.find(({ type }) => type === "CapacityOK");
    expect(found?.status).toBe(isExceeded ? "False" : "True");
    expect(events.map(({ reason }) => reason)).toEqual(isExceeded ? ["CapacityExceeded"] : []);
  });

  test("tells of it once, and again after it was over", () => {
    const conditionsOf = (status: string) => ({ conditions: [{ type: "CapacityOK", status }] });
    const reasons = (before: object): readonly string[] =>
      report(allocations(4), { before }).events.map(({ reason }) => reason);
    expect(reasons(conditionsOf("False"))).toEqual([]);
    expect(reasons(conditionsOf("True"))).toEqual(["CapacityExceeded"]);
  });

  test.each([
    { name: "a larger one of before", before: { peakUsed: 7 }, want: 7 },
    { name: "its own", before: { peakUsed: 1 }, want: 2 },
    { name: "its own, the first time", before: undefined, want: 2 },
  ])("the peak is $name", ({ before, want }) => {
    expect(report(allocations(2), { before }).status.peakUsed).toBe(want);
  });
});

describe("clusters that a change elsewhere brings back", () => {
  const named = (namespace: string, name: string, uid: string) =>
    ({ metadata: { namespace, name, uid } }) as never;

  test.each([1, 2, 3, 4])("are all of %i namesakes in as many namespaces", (count) => {
    const known = new KnownClusters();
    const seats = ["a", "b", "c", "d"].slice(0, count);
    for (const location of seats)
      for (const group of ["all", location]) known.note(group, named(location, "logs", `u-${location}`));
    expect(known.refs("all")).toEqual(seats.map((namespace) => ({ namespace, name: "logs" })));
    for (const location of seats)
      expect(known.refs(location)).toEqual([{ namespace: location, name: "logs" }]);
    expect(known.refs("elsewhere")).toEqual([]);
  });

  test("stay in all their groups when those that no longer exist are forgotten", () => {
    const known = new KnownClusters();
    for (let at = 0; at < 1_000; at += 1) known.note("all", named("old", `c${at}`, `u-${at}`));
    const left = named("team", "logs", "u-logs");
    known.prune({ list: () => [left] }, () => ["all", "team"]);
    expect([known.refs("all"), known.refs("team")]).toEqual([
      [{ namespace: "team", name: "logs" }],
      [{ namespace: "team", name: "logs" }],
    ]);
  });
});
