import { readFile } from "node:fs/promises";

import { type ElasticsearchCluster, elasticsearchCluster } from "@quartermaster/api";
import { clusterLicense, enterpriseLicense, licenseAssociation } from "@quartermaster/api/licensing";
import type { Kind, KubeObject } from "@quartermaster/runtime";
import { connect, eventually, makeIdentity } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { type LicenseBench, setUpBench } from "../support/license-bench.ts";
import { enforce, refusalOf } from "../support/license-policies.ts";

const root = new URL("../../../../config/", import.meta.url);

async function sample(file: string): Promise<KubeObject> {
  return parse(await readFile(new URL(`samples/${file}`, root), "utf8")) as KubeObject;
}

function inTeam(bench: LicenseBench, object: KubeObject, spec: object = {}): KubeObject {
  const own = (object as unknown as { readonly spec: object }).spec;
  const changed = {
    ...object,
    metadata: { ...object.metadata, namespace: bench.team },
    spec: { ...own, ...spec },
  };
  return changed;
}

describe("samples", () => {
  test.each([
    { file: "cluster-license.yaml", kind: clusterLicense.kind as Kind },
    { file: "enterprise-license.yaml", kind: enterpriseLicense.kind as Kind },
  ])("[licensing/N-seed] $file applies as it is", async ({ file, kind }) => {
    await using bench = await setUpBench({ isOperating: false });
    const applied = await bench.client.apply(kind, inTeam(bench, await sample(file)), {
      fieldManager: "tests",
      force: false,
    });
    expect(applied.kind).toBe(kind.kind);
  });
});

describe("the schemas", () => {
  test.each([
    {
      name: "[licensing/T7] type basic",
      file: "cluster-license.yaml",
      spec: { type: "basic" },
      want: "spec.type",
    },
    {
      name: "[security/61] a list as type",
      file: "cluster-license.yaml",
      spec: { type: ["platinum"] },
      want: "spec.type",
    },
    {
      name: "[security/61] a date as text",
      file: "cluster-license.yaml",
      spec: { expiryDate: "1e309" },
      want: "spec.expiryDate",
    },
    {
      name: "[security/61] a negative date",
      file: "cluster-license.yaml",
      spec: { issueDate: -1 },
      want: "spec.issueDate",
    },
    {
      name: "an end before the start",
      file: "cluster-license.yaml",
      spec: { startDate: 1_914_278_399_999 },
      want: "after startDate",
    },
    {
      name: "enterprise without units",
      file: "cluster-license.yaml",
      spec: { type: "enterprise" },
      want: "maxResourceUnits",
    },
    {
      name: "[licensing/T6] a trial without accepted terms",
      file: "enterprise-license.yaml",
      spec: { type: "enterprise_trial" },
      want: "eula.accepted",
    },
    {
      name: "both limits",
      file: "enterprise-license.yaml",
      spec: { maxResourceUnits: 1 },
      want: "exactly one",
    },
    {
      name: "a limit above the cap",
      file: "enterprise-license.yaml",
      spec: { capacityPolicy: { limit: 41 } },
      want: "must not be larger",
    },
  ])("$name is refused", async ({ file, spec, want }) => {
    await using bench = await setUpBench({ isOperating: false });
    const kind = (file === "cluster-license.yaml" ? clusterLicense.kind : enterpriseLicense.kind) as Kind;
    const object = inTeam(bench, await sample(file), spec);
    expect(await refusalOf(async () => await bench.client.create(kind, object))).toContain(want);
  });
});

describe("the policies", () => {
  test("[licensing/N8][licensing/S8][security/55] refuse foreign Secrets, misspelt settings and forged allocations", async () => {
    await using bench = await setUpBench({ isOperating: false });
    await using policies = await enforce(bench);
    expect(policies).toBeDefined();
    const license = await sample("cluster-license.yaml");
    const foreign = { signatureRef: { name: "token", namespace: "kube-system" } };
    const refusedSoon = await eventually(
      async () =>
        await refusalOf(
          async () =>
            await bench.client.create(clusterLicense.kind, inTeam(bench, license, foreign), {
              dryRun: true,
            }),
        ),
    );
    expect(refusedSoon).toContain("must be the namespace of the license");
    const cluster = elasticsearchCluster.example as unknown as ElasticsearchCluster;
    const misspelt = {
      ...cluster,
      metadata: {
        name: "logs",
        namespace: bench.team,
        labels: { "k8s.elastic.co/desired-license": "platinium" },
      },
    };
    expect(
      await eventually(
        async () =>
          await refusalOf(
            async () => await bench.client.create(elasticsearchCluster.kind, misspelt, { dryRun: true }),
          ),
      ),
    ).toContain("must be one of");
    const tenant = await makeIdentity(bench.cluster.api, bench.cluster.admin, {
      namespace: bench.team,
      name: "tenant",
      rules: [{ apiGroups: ["elasticsearch.k8s.elastic.co"], resources: ["*"], verbs: ["get", "create"] }],
    });
    await using link = connect(tenant);
    const association = inTeam(bench, licenseAssociation.example as unknown as KubeObject);
    const forged = inTeam(bench, association, { origin: "Controller" });
    expect(
      await eventually(
        async () =>
          await refusalOf(
            async () => await link.client.create(licenseAssociation.kind, forged, { dryRun: true }),
          ),
      ),
    ).toContain("are the operator's");
    expect(
      await refusalOf(
        async () => await link.client.create(licenseAssociation.kind as Kind, association, { dryRun: true }),
      ),
    ).toBeUndefined();
  });
});

describe("the policy for TLS", () => {
  const off = { tls: { transport: { enabled: false }, http: { enabled: false } } };

  test("[licensing/L2][licensing/L3] refuses to switch TLS off under gold, and lets a trial, basic and what was so before pass", async () => {
    await using bench = await setUpBench({ isOperating: false });
    await using policies = await enforce(bench);
    expect(policies).toBeDefined();
    const { kind } = elasticsearchCluster;
    const edit = async (name: string, body: object): Promise<string | undefined> =>
      await refusalOf(
        async () =>
          await bench.client.patch(kind, { namespace: bench.team, name }, { patch: { kind: "merge", body } }),
      );
    const label = (type: string): object => ({
      metadata: { labels: { "k8s.elastic.co/desired-license": type } },
    });
    const switchOff = { spec: { security: off } };
    for (const [name, type] of [
      ["gold", "gold"],
      ["trial", "trial"],
      ["basic", "basic"],
    ] as const) {
      await bench.createCluster(name);
      await bench.report(name, { license: { uid: `${name}-1`, type, state: "Applied" } });
    }
    // Policies take a moment to be known to the server: the first refusal shows that they are.
    const refused = await eventually(
      async () =>
        await refusalOf(
          async () =>
            await bench.client.patch(
              kind,
              { namespace: bench.team, name: "gold" },
              { patch: { kind: "merge", body: switchOff }, dryRun: true },
            ),
        ),
    );
    expect(refused).toContain("cannot be switched off under a license of type gold");
    expect(await edit("trial", switchOff)).toBeUndefined();
    expect(await edit("basic", switchOff)).toBeUndefined();
    expect(await edit("basic", label("platinum"))).toContain("a license of type platinum needs TLS");
    expect(await edit("basic", label("trial"))).toBeUndefined();
    // A license that came all the same does not lock the cluster.
    await bench.report("trial", { license: { uid: "gold-2", type: "gold", state: "Applied" } });
    expect(await edit("trial", { metadata: { annotations: { touched: "yes" } } })).toBeUndefined();
    expect(await edit("gold", { metadata: { annotations: { touched: "yes" } } })).toBeUndefined();
  });
});
