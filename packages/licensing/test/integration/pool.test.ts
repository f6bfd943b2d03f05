import { elasticsearchCluster } from "@quartermaster/api";
import {
  clusterLicense,
  type ClusterLicense,
  enterpriseLicense,
  licenseAssociation,
} from "@quartermaster/api/licensing";
import { secrets } from "@quartermaster/runtime/kinds";
import { connect, eventually, makeIdentity } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { explainLicenses, licensingSettings, readLicenseState } from "../../src/index.ts";
import { setUpBench, type LicenseBench } from "../support/license-bench.ts";
import { signatureText } from "../support/signatures.ts";

const applied = (uid: string, more: object = {}): object => ({
  license: { uid, type: "platinum", expiryTime: "2099-01-01T00:00:00Z", state: "Applied", ...more },
});

/** Names of what is in the namespace of the team besides what Kubernetes puts there. */
async function secretsOf(bench: LicenseBench): Promise<readonly string[]> {
  const { items } = await bench.client.listPage(secrets, { namespace: bench.team });
  return items.map(({ metadata }) => metadata.name);
}

describe("a pool", () => {
  test("[licensing/N3] gives a cluster one nested license with its signature, and nothing else leaves", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [
      { uid: "p1" },
      { uid: "g1", type: "gold" },
      { uid: "s1", type: "standard" },
    ]);
    await bench.createCluster("logs");
    const association = await bench.association("logs-license", ({ status }) => status?.state === "Pending");
    expect(association.spec).toMatchObject({
      clusterRef: { name: "logs" },
      licenseRef: { name: "logs-pool", uid: "p1" },
      origin: "Controller",
      source: { namespace: bench.pool, name: "e", uid: "e-uid" },
    });
    const copy = await bench.client.get(clusterLicense.kind, { namespace: bench.team, name: "logs-pool" });
    expect(copy.spec).toMatchObject({ uid: "p1", type: "platinum", maxNodes: 100 });
    const { items } = await bench.client.listPage(secrets, { namespace: bench.team });
    expect(
      items.map(({ metadata, type, data }) => ({ name: metadata.name, type, keys: Object.keys(data ?? {}) })),
    ).toEqual([
      { name: copy.spec.signatureRef.name, type: "license.k8s.elastic.co/signature", keys: ["p1"] },
    ]);
    expect(items[0]?.data?.["p1"]).toBe(btoa(signatureText("p1")));
    const { items: licenses } = await bench.client.listPage(clusterLicense.kind, { namespace: bench.team });
    expect(licenses).toHaveLength(1);
    const [explained] = association.status?.explanation?.candidates ?? [];
    expect(explained).toMatchObject({
      uid: "p1",
      verdict: "Selected",
      source: `EnterpriseLicense ${bench.pool}/e`,
    });
  });

  test("[licensing/S1] without any license: no association, a reason on the cluster, and nothing else", async () => {
    await using bench = await setUpBench();
    await bench.createCluster("logs");
    await eventually(async () => (await bench.events("logs")).includes("NoLicenseAvailable") || undefined);
    const { items } = await bench.client.listPage(licenseAssociation.kind, { namespace: bench.team });
    expect(items).toEqual([]);
  });

  test("[licensing/A1] a second reconcile of the same state writes nothing", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    await bench.createCluster("logs");
    await bench.association("logs-license", ({ status }) => status?.state === "Pending");
    await bench.report("logs", applied("p1"));
    await bench.association("logs-license", ({ status }) => status?.state === "Applied");
    await bench.enterprise("e", ({ status }) => status?.used === 1);
    const position = await bench.cluster.audit.position();
    await bench.client.patch(
      elasticsearchCluster.kind,
      { namespace: bench.team, name: "logs" },
      {
        patch: { kind: "merge", body: { metadata: { annotations: { touched: "yes" } } } },
      },
    );
    await bench.createCluster("other");
    await bench.association("other-license", ({ status }) => status?.state === "Pending");
    const writes = await bench.writes(position);
    expect(writes.filter(({ name }) => name?.startsWith("logs") ?? false)).toEqual([]);
  });

  test("a license that the engine refused makes way for the next one, whose signature comes first", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [
      { uid: "p1", daysLeft: 300 },
      { uid: "p2", daysLeft: 200 },
    ]);
    await bench.createCluster("logs");
    await bench.association("logs-license", ({ spec }) => spec.licenseRef.uid === "p1");
    await bench.report("logs", {
      license: { state: "Rejected", rejected: [{ uid: "p1", reason: "invalid" }] },
    });
    const association = await bench.association("logs-license", ({ spec }) => spec.licenseRef.uid === "p2");
    expect(association.spec.licenseRef.name).toBe("logs-pool");
    await bench.report("logs", applied("p2"));
    await bench.association("logs-license", ({ status }) => status?.state === "Applied");
    const copy = await bench.until(
      clusterLicense.kind,
      { namespace: bench.team, name: "logs-pool" },
      ({ metadata }) =>
        metadata.annotations?.["license.k8s.elastic.co/signature-secrets"]?.split(",").length === 1,
    );
    await eventually(async (see) => see(await secretsOf(bench)).length === 1 || undefined);
    expect(await secretsOf(bench)).toEqual([copy.spec.signatureRef.name]);
  });

  test("[licensing/A12] a deleted license with a successor: switched, and reported as such", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("one", [{ uid: "p1", daysLeft: 300 }]);
    await bench.createEnterprise("two", [{ uid: "p2", daysLeft: 200 }]);
    await bench.createCluster("logs");
    await bench.association("logs-license", ({ spec }) => spec.licenseRef.uid === "p1");
    await bench.report("logs", applied("p1"));
    await bench.association("logs-license", ({ status }) => status?.appliedUid === "p1");
    const position = await bench.cluster.audit.position();
    await bench.client.delete(enterpriseLicense.kind, { namespace: bench.pool, name: "one" });
    await bench.association(
      "logs-license",
      ({ spec }) => spec.licenseRef.uid === "p2" && spec.source?.name === "two",
    );
    await bench.report("logs", applied("p2"));
    await bench.association("logs-license", ({ status }) => status?.appliedUid === "p2");
    // The search domain starts basic where the copy no longer exists: it was replaced, never deleted.
    const writes = await bench.writes(position);
    const deleted = writes.filter(({ verb, resource }) => verb === "delete" && resource !== "secrets");
    expect(deleted).toEqual([]);
    await eventually(
      async () => (await bench.events("logs-license")).includes("LicenseSwitched") || undefined,
    );
    expect(await bench.events("logs-license")).toContain("LicenseApplied");
  });

  test("a direct link is never touched, and takes part in the choice", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "g1", type: "gold" }]);
    const direct = await bench.createLicense("logs", { uid: "p9" });
    await bench.createCluster("logs");
    const association = await bench.association("logs-license", ({ status }) => status?.state === "Pending");
    expect(association.spec).toMatchObject({ licenseRef: { name: "logs", uid: "p9" } });
    expect(association.spec.source).toBeUndefined();
    const after = await bench.client.get(clusterLicense.kind, { namespace: bench.team, name: "logs" });
    expect(after.metadata.uid).toBe(direct.metadata.uid);
    expect(after.spec).toEqual(direct.spec);
    expect(await secretsOf(bench)).toEqual([]);
  });

  test("[licensing/A11] a deleted cluster releases association, copy, Secret and its place", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    const cluster = await bench.createCluster("logs", { nodes: 3 });
    const association = await bench.association("logs-license", ({ status }) => status?.state === "Pending");
    await bench.enterprise("e", ({ status }) => status?.used === 3);
    const copy = await bench.client.get(clusterLicense.kind, { namespace: bench.team, name: "logs-pool" });
    const secret = await bench.client.get(secrets, {
      namespace: bench.team,
      name: copy.spec.signatureRef.name,
    });
    for (const { metadata } of [association, copy, secret])
      expect(metadata.ownerReferences).toMatchObject([{ uid: cluster.metadata.uid, controller: true }]);
    await bench.client.delete(elasticsearchCluster.kind, { namespace: bench.team, name: "logs" });
    await bench.enterprise("e", ({ status }) => status?.used === 0);
    // By its owner references: the cluster no longer exists before anything could be released by us.
    await eventually(async (see) => {
      const [associations, copies] = await Promise.all([
        bench.client.listPage(licenseAssociation.kind, { namespace: bench.team }),
        bench.client.listPage(clusterLicense.kind, { namespace: bench.team }),
      ]);
      const left = [...associations.items, ...copies.items].map(({ metadata }) => metadata.name);
      return see([...left, ...(await secretsOf(bench))]).length === 0 || undefined;
    });
  });

  test("an object of another client under our name is left alone, and reported", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    const foreign = await bench.createLicense("logs-pool", { uid: "mine", type: "gold" });
    await bench.createCluster("logs");
    await eventually(async () => (await bench.events("logs")).includes("NameTaken") || undefined);
    const after = await bench.client.get(clusterLicense.kind, { namespace: bench.team, name: "logs-pool" });
    expect(after.spec).toEqual(foreign.spec);
    expect(await secretsOf(bench)).toEqual([]);
  });

  test("[licensing/A8] two controllers at the same time make one association, one copy and one Secret, and no error", async () => {
    await using bench = await setUpBench({ isOperating: false });
    await Promise.all([bench.operate(), bench.operate()]);
    await bench.createEnterprise("e", [{ uid: "p1" }, { uid: "p2", daysLeft: 200 }]);
    await bench.createCluster("logs");
    await bench.association("logs-license", ({ status }) => status?.state === "Pending");
    await bench.report("logs", applied("p1"));
    const association = await bench.association("logs-license", ({ status }) => status?.state === "Applied");
    expect(association.spec.licenseRef.uid).toBe("p1");
    expect(association.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      status: "True",
    });
    const [associations, copies] = await Promise.all([
      bench.client.listPage(licenseAssociation.kind, { namespace: bench.team }),
      bench.client.listPage(clusterLicense.kind, { namespace: bench.team }),
    ]);
    expect([associations.items.length, copies.items.length, (await secretsOf(bench)).length]).toEqual([
      1, 1, 1,
    ]);
  });

  test("[licensing/Q1] explain says what the controller decided, with the same verdicts, as another client who may only read", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [
      { uid: "p1" },
      { uid: "p2", daysLeft: 200 },
      { uid: "p3", daysLeft: 10 },
      { uid: "g1", type: "gold" },
    ]);
    await bench.createCluster("logs", { labels: { "k8s.elastic.co/desired-license": "platinum" } });
    const { status } = await bench.association("logs-license", (each) => each.status?.state === "Pending");
    const reading = ["get", "list", "watch"];
    const reader = await makeIdentity(bench.cluster.api, bench.cluster.admin, {
      namespace: bench.pool,
      name: "reader",
      clusterRules: [
        { apiGroups: ["elasticsearch.k8s.elastic.co"], resources: ["*"], verbs: reading },
        { apiGroups: [""], resources: ["namespaces", "secrets"], verbs: reading },
      ],
    });
    await using link = connect(reader);
    const settings = { ...licensingSettings, licenseNamespace: bench.pool };
    const state = await readLicenseState(link.client, {
      licenseNamespace: bench.pool,
      signal: AbortSignal.timeout(30_000),
    });
    const explained = explainLicenses(state, Date.now(), settings).find(
      ({ cluster: { metadata } }) => metadata.namespace === bench.team,
    );
    const { selection, candidates } = explained?.binding ?? { selection: undefined, candidates: [] };
    expect({
      decision: selection?.reason,
      verdicts: candidates.map(({ uid }, at) => [uid, selection?.verdicts[at]]),
    }).toEqual({
      decision: status?.explanation?.decision,
      verdicts: status?.explanation?.candidates?.map(({ uid, verdict }) => [uid, verdict]),
    });
    expect(selection?.verdicts).toEqual(["Selected", "ShorterValidity", "ExpiryMargin", "TypeMismatch"]);
  });

  test("conditions about the signature follow what the clusters report", async () => {
    await using bench = await setUpBench();
    await bench.createLicense("logs", { uid: "direct" });
    await bench.createCluster("logs");
    const ref = { namespace: bench.team, name: "logs" };
    const signature = (status: string, reason: string) => (license: ClusterLicense) =>
      license.status?.conditions?.some(
        (each) => each.type === "SignatureValid" && each.status === status && each.reason === reason,
      ) ?? false;
    const first = await bench.until(clusterLicense.kind, ref, signature("Unknown", "NoKeyConfigured"));
    expect(first.status?.conditions?.find(({ type }) => type === "SignatureResolved")).toMatchObject({
      status: "Unknown",
      reason: "NotYetRead",
    });
    await bench.report("logs", {
      license: {
        state: "Pending",
        reason: "SignatureMissing",
        message: "Secret logs-signature does not exist.",
      },
    });
    await bench.until(clusterLicense.kind, ref, signature("False", "SignatureMissing"));
    await bench.report("logs", applied("direct", { reason: null, message: null }));
    const last = await bench.until(clusterLicense.kind, ref, signature("True", "Valid"));
    expect(last.status?.boundClusters).toEqual(["logs"]);
  });

  test("with RevertToBasic a deleted EnterpriseLicense takes copy, Secret and association with it, and brings them back", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    await bench.createCluster("logs", {
      annotations: {
        "license.k8s.elastic.co/on-license-loss": "RevertToBasic",
        "license.k8s.elastic.co/allow-downgrade": "true",
      },
    });
    await bench.association("logs-license", ({ status }) => status?.state === "Pending");
    await bench.report("logs", applied("p1"));
    await bench.association("logs-license", ({ status }) => status?.state === "Applied");
    await bench.client.delete(enterpriseLicense.kind, { namespace: bench.pool, name: "e" });
    await bench.client.delete(secrets, { namespace: bench.pool, name: "e-signatures" });
    await eventually(async (see) => see(await secretsOf(bench)).length === 0 || undefined);
    await eventually(async (see) => {
      const { items } = await bench.client.listPage(licenseAssociation.kind, { namespace: bench.team });
      return see(items).length === 0 || undefined;
    });
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    await bench.association("logs-license", ({ status }) => status?.state === "Applied");
  });
});
