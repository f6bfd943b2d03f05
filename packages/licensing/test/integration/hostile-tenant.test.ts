import { elasticsearchCluster } from "@quartermaster/api";
import { clusterLicense, type ClusterLicense, licenseAssociation } from "@quartermaster/api/licensing";
import { secrets } from "@quartermaster/runtime/kinds";
import { connect, eventually, makeIdentity } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { type LicenseBench, setUpBench } from "../support/license-bench.ts";
import { enforce, refusalOf } from "../support/license-policies.ts";

async function namesIn(bench: LicenseBench, kind: "associations" | "secrets"): Promise<readonly string[]> {
  const { items } =
    kind === "secrets"
      ? await bench.client.listPage(secrets, { namespace: bench.team })
      : await bench.client.listPage(licenseAssociation.kind, { namespace: bench.team });
  return items.map(({ metadata }) => metadata.name).filter((name) => name !== "kube-root-ca.crt");
}

/** A bystander gets its license after everything that was queued before it. */
async function bystanderIsServed(bench: LicenseBench, name: string): Promise<void> {
  await bench.createCluster(name);
  await bench.association(`${name}-license`, ({ spec }) => spec.source !== undefined);
}

describe("a tenant who does not run what it asks licenses for", () => {
  test("[security/114] gets no signature for clusters of zero nodes or without a running engine, and takes no place", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }], {
      maxInstances: 5,
      allowedNamespaces: {},
      capacityPolicy: { mode: "Enforce" },
    });
    await bench.createCluster("empty", { nodes: 0 });
    for (const name of ["idle-1", "idle-2", "idle-3", "idle-4", "idle-5"])
      await bench.createCluster(name, { isRunning: false });
    await bench.createCluster("payer", { nodes: 5 });
    await bench.association("payer-license", ({ spec }) => spec.source?.grantedNodes === 5);
    expect(await namesIn(bench, "associations")).toEqual(["payer-license"]);
    expect(await namesIn(bench, "secrets")).toEqual([expect.stringMatching(/^payer-pool-[0-9a-f]{10}$/)]);
    // Not a warning either: a cluster that starts is no mistake.
    expect(await bench.events("idle-1")).toEqual([]);
  });

  test("[security/114] loses its place when its engine has been silent for an hour, and gets it back when it answers", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }], {
      maxInstances: 1,
      allowedNamespaces: {},
      capacityPolicy: { mode: "Enforce" },
    });
    await bench.createCluster("silent");
    await bench.association("silent-license", ({ spec }) => spec.source !== undefined);
    const available = (status: string, minutes: number): object => ({
      capacity: { presentNodes: 1 },
      conditions: [
        {
          type: "Available",
          status,
          reason: status === "True" ? "Serving" : "Unreachable",
          message: "x",
          lastTransitionTime: new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, ""),
        },
      ],
    });
    await bench.report("silent", available("False", 61));
    await eventually(async (see) => see(await namesIn(bench, "associations")).length === 0);
    expect(await namesIn(bench, "secrets")).toEqual([]);
    await bench.report("silent", available("True", 0));
    await bench.association("silent-license", ({ spec }) => spec.source !== undefined);
  });

  test("[security/114] has a limit of its own namespace, and Enforce needs allowedNamespaces", async () => {
    await using bench = await setUpBench();
    const refused = await refusalOf(
      async () =>
        await bench.createEnterprise("open", [{ uid: "p1" }], { capacityPolicy: { mode: "Enforce" } }),
    );
    expect(refused).toContain("allowedNamespaces is required");
    await bench.createEnterprise("e", [{ uid: "p1" }], {
      allowedNamespaces: {},
      capacityPolicy: { mode: "Enforce", limitPerNamespace: 3 },
    });
    await bench.createCluster("a", { nodes: 2 });
    await bench.association("a-license", ({ spec }) => spec.source !== undefined);
    await bench.createCluster("b", { nodes: 2 });
    await eventually(async () => (await bench.events("b")).includes("CapacityExceeded") || undefined);
    expect(await namesIn(bench, "associations")).toEqual(["a-license"]);
  });
});

describe("a tenant who edits the copy of a license", () => {
  async function editCopy(bench: LicenseBench, client: LicenseBench["client"], body: object): Promise<void> {
    await client.patch(
      clusterLicense.kind,
      { namespace: bench.team, name: "logs-pool" },
      { patch: { kind: "merge", body } },
    );
  }

  const edits: readonly { readonly name: string; readonly body: object }[] = [
    { name: "signatureRef", body: { spec: { signatureRef: { name: "victim", key: "p1" } } } },
    {
      name: "the annotation",
      body: {
        metadata: {
          annotations: {
            "license.k8s.elastic.co/signature-secrets":
              "victim=,logs-pool-victim=,../victim=,other-pool-0123456789=",
            "license.k8s.elastic.co/retired-signatures": "victim",
          },
        },
      },
    },
  ];

  test.each(edits)("[security/115] cannot have another Secret deleted by $name", async ({ body }) => {
    await using bench = await setUpBench();
    const victims = ["victim", "logs-pool-victim", "other-pool-0123456789"];
    for (const name of victims)
      await bench.client.create(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace: bench.team },
      });
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    await bench.createCluster("logs");
    await bench.association("logs-license", ({ spec }) => spec.licenseRef.uid === "p1");
    await editCopy(bench, bench.client, body);
    // The engine has the license, another one follows, and then all is released: every way on which Secrets are deleted.
    const under = (uid: string): object => ({
      capacity: { presentNodes: 1 },
      license: { uid, type: "platinum", state: "Applied", expiryTime: "2099-01-01T00:00:00Z" },
    });
    await bench.report("logs", under("p1"));
    await bystanderIsServed(bench, "between");
    await editCopy(bench, bench.client, body);
    await bench.client.patch(
      elasticsearchCluster.kind,
      { namespace: bench.team, name: "logs" },
      {
        patch: {
          kind: "merge",
          body: {
            metadata: {
              labels: { "k8s.elastic.co/desired-license": "basic" },
              annotations: { "license.k8s.elastic.co/allow-downgrade": "true" },
            },
          },
        },
      },
    );
    await bench.report("logs", { license: { uid: "b", type: "basic", state: "Applied" } });
    await eventually(async (see) => !see(await namesIn(bench, "associations")).includes("logs-license"));
    expect(await namesIn(bench, "secrets")).toEqual(expect.arrayContaining(victims));
  });

  test("[security/115] is refused by the policy, and the operator is not", async () => {
    await using bench = await setUpBench();
    await using policies = await enforce(bench);
    expect(policies).toBeDefined();
    const tenant = await makeIdentity(bench.cluster.api, bench.cluster.admin, {
      namespace: bench.team,
      name: "tenant",
      rules: [{ apiGroups: ["elasticsearch.k8s.elastic.co"], resources: ["*"], verbs: ["*"] }],
    });
    await using link = connect(tenant);
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    await bench.createCluster("logs");
    await bench.association("logs-license", () => true);
    for (const { body } of edits) {
      const refused = await eventually(
        async () => await refusalOf(async () => await editCopy(bench, link.client, body)),
      );
      expect(refused).toContain("is a copy that the operator manages");
    }
    const own = { ...clusterLicense.example, metadata: { name: "mine", namespace: bench.team } };
    expect(
      await refusalOf(
        async () => await link.client.create(clusterLicense.kind, own as unknown as ClusterLicense),
      ),
    ).toBeUndefined();
    await bench.client.delete(clusterLicense.kind, { namespace: bench.team, name: "logs-pool" });
    await bench.until(clusterLicense.kind, { namespace: bench.team, name: "logs-pool" }, () => true);
  });

  test("[security/115] a Secret made again under the name of a signature is another client's, and stays", async () => {
    await using bench = await setUpBench();
    await bench.createEnterprise("e", [{ uid: "p1" }]);
    await bench.createCluster("logs");
    await bench.association("logs-license", () => true);
    const copy = await bench.until(
      clusterLicense.kind,
      { namespace: bench.team, name: "logs-pool" },
      () => true,
    );
    const ref = { namespace: bench.team, name: copy.spec.signatureRef.name };
    await bench.client.delete(secrets, ref);
    await bench.client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: ref });
    await bench.client.patch(
      elasticsearchCluster.kind,
      { namespace: bench.team, name: "logs" },
      {
        patch: {
          kind: "merge",
          body: { metadata: { labels: { "k8s.elastic.co/desired-license": "basic" } } },
        },
      },
    );
    await bench.report("logs", { license: { uid: "b", type: "basic", state: "Applied" } });
    await eventually(async (see) => !see(await namesIn(bench, "associations")).includes("logs-license"));
    expect(await namesIn(bench, "secrets")).toContain(ref.name);
  });
});

test("[security/116] an association does not show licenses that are reserved for other namespaces", async () => {
  await using bench = await setUpBench();
  const elsewhere = { allowedNamespaces: { matchLabels: { tier: "secret" } } };
  await bench.createEnterprise("reserved", [{ uid: "hidden-1" }], elsewhere);
  await bench.createEnterprise("broken", [{ uid: "hidden-2", signature: "AAAA" }], elsewhere);
  await bench.createEnterprise("e", [{ uid: "p1" }]);
  await bench.createCluster("logs");
  const shown = await bench.association("logs-license", ({ status }) => status?.explanation !== undefined);
  expect(shown.status?.explanation?.candidates?.map(({ uid }) => uid)).toEqual(["p1"]);
  expect(shown.status?.explanation?.omitted).toBeUndefined();
  expect(JSON.stringify(shown)).not.toMatch(/hidden|reserved|broken/);
});
