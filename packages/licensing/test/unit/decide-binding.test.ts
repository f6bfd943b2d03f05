import { elasticsearchCluster, type ElasticsearchCluster } from "@quartermaster/api";
import type { EnterpriseLicense, LicenseAssociation } from "@quartermaster/api/licensing";
import { dayMs, licenseParameters } from "@quartermaster/license-selection";
import { controllerReference, type Live } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { explainLicenses, type LicenseState } from "../../src/explain/license-state.ts";
import { enterpriseReport } from "../../src/pool/enterprise-report.ts";
import { readPoolLicense } from "../../src/pool/license-pool.ts";
import { aCluster, anEnterprise, nowMs, theSignatures } from "../support/license-objects.ts";

const settings = { licenseNamespace: "licenses", parameters: licenseParameters };
const revert = {
  "license.k8s.elastic.co/on-license-loss": "RevertToBasic",
  "license.k8s.elastic.co/allow-downgrade": "true",
};
const under = (uid: string, type = "platinum"): object => ({
  uid,
  type,
  state: "Applied",
  expiryTime: "2026-01-01T00:00:00Z",
});

/** The controller's association of a cluster with a license of the pool. */
function bound(
  cluster: Live<ElasticsearchCluster>,
  source: { readonly namespace: string; readonly name: string },
): Live<LicenseAssociation> {
  const { namespace, name } = cluster.metadata;
  const { group, version, kind } = elasticsearchCluster.kind;
  const owner = { ...cluster, apiVersion: `${group}/${version}`, kind };
  return {
    metadata: { name: `${name}-license`, namespace, ownerReferences: [controllerReference(owner)] },
    spec: {
      clusterRef: { name },
      licenseRef: { name: `${name}-pool`, uid: "p1" },
      origin: "Controller",
      source: { ...source, uid: "e-uid", since: "2025-01-01T00:00:00Z" },
    },
  } as unknown as Live<LicenseAssociation>;
}

function state(
  cluster: Live<ElasticsearchCluster>,
  enterprise: readonly Live<EnterpriseLicense>[],
  associations: readonly Live<LicenseAssociation>[] = [],
): LicenseState {
  const secrets = enterprise.map((each) => theSignatures(each));
  return { clusters: [cluster], licenses: [], associations, namespaces: [], enterprise, secrets };
}

function decided(given: LicenseState, atMs = nowMs): readonly [string | undefined, string | undefined] {
  const [explained] = explainLicenses(given, atMs, settings);
  return [explained?.binding.target.kind, explained?.binding.selection.reason];
}

describe("what is held for a cluster whose EnterpriseLicense no longer exists", () => {
  const here = { namespace: "licenses", name: "e" };
  const running = (more: object = {}): Live<ElasticsearchCluster> =>
    aCluster("logs", { license: under("p1"), ...more });
  const willing = running({ annotations: revert });
  const { spec, ...rest } = anEnterprise("e", ["p1"]);
  const invalid = { ...rest, spec: { ...spec, signatureRef: { name: "signatures", key: "absent" } } };

  test.each<{
    readonly name: string;
    readonly cluster: Live<ElasticsearchCluster>;
    readonly pool?: readonly Live<EnterpriseLicense>[];
    readonly source?: typeof here;
    readonly want: readonly string[];
  }>([
    { name: "all of it by default", cluster: running(), want: ["keep", "NoLicenseAvailable"] },
    {
      name: "nothing where basic is wanted on loss",
      cluster: willing,
      want: ["release", "NoLicenseAvailable"],
    },
    {
      name: "all of it where a lower type is permitted and basic is not requested",
      cluster: running({ annotations: { "license.k8s.elastic.co/allow-downgrade": "true" } }),
      want: ["keep", "NoLicenseAvailable"],
    },
    {
      name: "all of it where no lower type is permitted",
      cluster: running({ annotations: { ...revert, "license.k8s.elastic.co/allow-downgrade": "false" } }),
      want: ["keep", "NoLicenseAvailable"],
    },
    {
      name: "all of it where the label requests a type",
      cluster: running({ annotations: revert, labels: { "k8s.elastic.co/desired-license": "platinum" } }),
      want: ["keep", "NoMatchingLicense"],
    },
    {
      name: "another one, where there is one",
      cluster: willing,
      pool: [anEnterprise("f", ["p2"])],
      want: ["pool", "Selected"],
    },
    {
      name: "nothing where the EnterpriseLicense no longer holds the license",
      cluster: willing,
      pool: [anEnterprise("e", [])],
      want: ["release", "NoLicenseAvailable"],
    },
    {
      name: "all of it where the EnterpriseLicense is there and cannot be read",
      cluster: willing,
      pool: [invalid],
      want: ["keep", "NoLicenseAvailable"],
    },
    {
      name: "all of it where the license namespace is another one by now",
      cluster: willing,
      source: { namespace: "elsewhere", name: "e" },
      want: ["keep", "NoLicenseAvailable"],
    },
    {
      name: "nothing once the cluster runs under basic",
      cluster: aCluster("logs", { license: under("b", "basic"), annotations: revert }),
      source: { namespace: "elsewhere", name: "e" },
      want: ["release", "NoLicenseAvailable"],
    },
  ])("$name", ({ cluster, pool = [], source = here, want }) => {
    expect(decided(state(cluster, pool, [bound(cluster, source)]))).toEqual(want);
  });

  test("an association that the cluster does not control says nothing about a loss", () => {
    const stranger = aCluster("other");
    const forged = { ...bound(stranger, here), metadata: { name: "logs-license", namespace: "team" } };
    expect(decided(state(willing, [], [forged as Live<LicenseAssociation>]))).toEqual([
      "keep",
      "NoLicenseAvailable",
    ]);
  });

  test("after 15 minutes without it the choice is basic, as the search domain acts", () => {
    const lost = { ...under("p1"), lostSince: "2025-06-01T00:00:00Z" };
    const given = state(aCluster("logs", { license: lost, annotations: revert }), []);
    const [before, after] = [14, 15].map(
      (minutes) => explainLicenses(given, nowMs + minutes * 60_000, settings)[0],
    );
    expect(before?.binding.selection).toMatchObject({ choice: { kind: "keep" }, wakeAtMs: nowMs + 900_000 });
    expect(after?.binding.selection).toMatchObject({ choice: { kind: "startBasic" }, reason: "SourceLost" });
  });
});

test("[licensing/N1] an EnterpriseLicense in another namespace is flagged, offers nothing and allocates nothing", () => {
  const stray = anEnterprise("e", ["p1"], { namespace: "team" });
  const read = readPoolLicense(stray, {
    licenseNamespace: "licenses",
    secretOf: () => theSignatures(stray),
  });
  expect(read).toMatchObject({ problem: { reason: "WrongNamespace" }, nested: [] });
  const { conditions, status } = enterpriseReport(read, [], {
    nowMs,
    parameters: licenseParameters,
    before: undefined,
  });
  expect(status).toMatchObject({ state: "Invalid", allocations: [], used: 0 });
  expect(conditions.find(({ type }) => type === "NamespaceAccepted")).toMatchObject({
    status: "False",
    reason: "WrongNamespace",
  });
  expect(decided(state(aCluster("logs"), [stray]))).toEqual(["keep", "NoLicenseAvailable"]);
});

test("[security/64] a label gets a tenant nothing that the pool does not cover", () => {
  const overrides = { labels: { "k8s.elastic.co/desired-license": "platinum" } };
  const full = anEnterprise("e", ["p1"], { capacityPolicy: { mode: "Enforce", limit: 2 } });
  const [explained] = explainLicenses(state(aCluster("logs", overrides), [full]), nowMs, settings);
  expect(explained?.binding).toMatchObject({
    target: { kind: "keep" },
    selection: { verdicts: ["CapacityExceeded"] },
  });
});

test("a bound cluster that outgrows an enforced cap stays bound and is flagged; a new one gets nothing", () => {
  const full = anEnterprise("e", ["p1"], { capacityPolicy: { mode: "Enforce", limit: 2 } });
  const cluster = aCluster("logs", { license: under("p1") });
  const association = bound(cluster, { namespace: "licenses", name: "e" });
  expect(decided(state(cluster, [full], [association]))).toEqual(["pool", "Kept"]);
  expect(decided(state(aCluster("new"), [full]))).toEqual(["keep", "NoLicenseAvailable"]);
  const read = readPoolLicense(full, { licenseNamespace: "licenses", secretOf: () => theSignatures(full) });
  const { conditions } = enterpriseReport(read, [{ association, cluster, need: { nodes: 3, bytes: 0 } }], {
    nowMs,
    parameters: licenseParameters,
    before: undefined,
  });
  expect(conditions.find(({ type }) => type === "CapacityOK")).toMatchObject({
    status: "False",
    reason: "CapacityExceeded",
    message: "3 of 2 instances are used.",
  });
});

test("[security/62] a clock that is a day off changes no choice, to and fro", () => {
  const pool = [anEnterprise("e", ["p1"]), anEnterprise("f", ["p2"])];
  const cluster = aCluster("logs", { license: under("p1") });
  for (const days of [0, 1, -1, 1, 0])
    expect(decided(state(cluster, pool), nowMs + days * dayMs)).toEqual(["pool", "Kept"]);
});
