import { randomInt } from "node:crypto";

import { installPlan } from "@quartermaster/api";
import { type Client, realSystem } from "@quartermaster/runtime";
import {
  type Access,
  connect,
  eventually,
  type LocalCluster,
  startLocalCluster,
  startOperator,
} from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { widget, widgets } from "../support/definitions.ts";
import { configMaps, crds } from "../support/kinds.ts";
import { configMap, inline } from "../support/manifests.ts";
import { makeAdministrator, makeInstaller, operateThrough } from "../support/own-cluster.ts";
import { aPlan } from "../support/plans.ts";

let cluster: LocalCluster;
const namespace = "default";

beforeAll(async () => {
  // Below the ports that outgoing connections take: one of those could sit on it while the server is down.
  cluster = await startLocalCluster({
    kwokNodes: 0,
    port: 20_000 + randomInt(10_000),
    // As one of two, it establishes a CRD only after five seconds, when the other knows of it.
    apiServerArguments: ["--apiserver-count=2"],
  });
  await using admin = connect(access());
  await makeInstaller(admin);
  await makeAdministrator(admin);
});

function access(): Access {
  const { server, caPem, token = "" } = cluster.admin;
  return { server, caPem, token };
}

afterAll(async () => {
  await cluster.stop();
});

describe("the API server goes away", () => {
  test("[install-plan/116] in the middle of a stage: the plan continues, nothing is made twice or lost", async () => {
    await using operator = await operateThrough(access());
    const { client } = operator;
    const stages = ["a", "b"].map((name) => ({
      name,
      resources: Array.from({ length: 100 }, (_, index) => configMap(`${name}${index}`)),
    }));
    const { apiVersion, kind } = aPlan("p");
    const spec = { serviceAccountName: "installer", stages };
    await client.create(installPlan.kind, {
      apiVersion,
      kind,
      metadata: { name: "p", namespace },
      spec,
    } as never);
    await eventually(async () => (await client.find(configMaps, { namespace, name: "b5" })) !== undefined, {
      everyMs: 5,
    });
    await cluster.apiServer.kill();
    await cluster.apiServer.restart();
    const before = await eventually(async () => {
      const { items } = await client.listPage(configMaps, { namespace, pageSize: 500 });
      return items;
    });
    const done = await eventually(
      async (see) => {
        const { status } = await client.get(installPlan.kind, { namespace, name: "p" });
        see(status?.message);
        return status?.phase === "Installed" ? status : undefined;
      },
      { withinMs: 60_000 },
    );
    expect(done.counts).toMatchObject({ total: 200, ready: 200 });
    const { items } = await client.listPage(configMaps, { namespace, pageSize: 500 });
    const uids = new Map(items.map(({ metadata }) => [metadata.name, metadata.uid]));
    for (const { metadata } of before) expect(uids.get(metadata.name)).toBe(metadata.uid);
    expect(before.length).toBeLessThan(items.length);
  });

  test(
    "[faults/3] for 25 s here and five minutes in the campaign: the operator stays, gives its lease up, and works 30 s after",
    { timeout: 600_000 },
    async () => {
      await using admin = connect(access());
      const flags = [
        "--domains",
        "install-plan",
        "--watch-namespace",
        namespace,
        "--lease-namespace",
        namespace,
      ];
      await using operator = await startOperator(access(), flags);
      await eventually((see) => see(operator.output).includes("operator started"));
      await createPlan(admin.client, "before", { stages: [{ name: "s", resources: [configMap("before")] }] });
      await installed(admin.client, "before");
      await cluster.apiServer.kill();
      const awayMs = process.env["QM_CAMPAIGN"] === "1" ? 300_000 : 25_000;
      await realSystem().sleep(awayMs);
      expect(operator.exitCode).toBeUndefined();
      expect(operator.output).toContain("lease is no longer held");
      await cluster.apiServer.restart();
      await eventually(async () => {
        await createPlan(admin.client, "after", { stages: [{ name: "s", resources: [configMap("after")] }] });
        return true;
      });
      await installed(admin.client, "after", { withinMs: 30_000 });
    },
  );
});

test("[faults/23] a CRD that is slow to establish delays the next stage and fails nothing", async () => {
  await using operator = await operateThrough(access());
  const { client } = operator;
  const kind = widgets("slow.example.org");
  const stages = [
    { name: "a", resources: [inline(kind.object)] },
    { name: "b", resources: [inline(widget(kind, "one")), configMap("beside")] },
  ];
  await createPlan(client, "slow", { stages, scope: "Cluster" });
  const seen = new Set<string>();
  const definition = await eventually(async () => await client.find(crds, { name: kind.name }));
  expect(JSON.stringify(definition)).not.toContain('"type":"Established","status":"True"');
  await installed(client, "slow", { note: (phase) => seen.add(phase) });
  expect(seen).not.toContain("Failed");
  expect(seen).not.toContain("Invalid");
  const { metadata } = await client.get(kind.kind, { namespace, name: "one" });
  const established = timeOfEstablishing(await client.get(crds, { name: kind.name }));
  expect(Date.parse(established)).toBeGreaterThanOrEqual(
    Date.parse(definition.metadata.creationTimestamp ?? "") + 4_000,
  );
  expect(Date.parse(metadata.creationTimestamp ?? "")).toBeGreaterThanOrEqual(Date.parse(established));
});

test("[faults/50] fields of a newer CRD survive under an operator that does not know them", async () => {
  await using operator = await operateThrough(access());
  const { client } = operator;
  const schema = "/spec/versions/0/schema/openAPIV3Schema/properties";
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const operations = [
    { op: "add", path: `${schema}/spec/properties/future`, value: open },
    { op: "add", path: `${schema}/spec/properties/stages/items/properties/future`, value: open },
    { op: "add", path: `${schema}/status/properties/future`, value: open },
  ] as const;
  const ref = { name: "installplans.install.quartermaster.dev" };
  await client.patch(crds, ref, { patch: { kind: "json", operations } });
  const future = { field: ["kept", { as: "it is" }] };
  const stages = [{ name: "s", future, resources: [configMap("future")], jobs: [] }];
  // The new schema is served a moment later.
  await eventually(async () => {
    await createPlan(client, "future", { stages, future });
    const found = JSON.stringify(await client.get(installPlan.kind, { namespace, name: "future" }));
    if (found.split('"future":{').length === 3) return true;
    await client.delete(installPlan.kind, { namespace, name: "future" });
    return false;
  });
  const body = { status: { future } };
  await client.patch(
    installPlan.kind,
    { namespace, name: "future" },
    { subresource: "status", patch: { kind: "merge", body }, fieldManager: "newer-part" },
  );
  await installed(client, "future");
  const edit = {
    patch: { kind: "merge", body: { data: { a: "edited" } } },
    fieldManager: "kubectl-edit",
  } as const;
  await client.patch(configMaps, { namespace, name: "future" }, edit);
  await eventually(
    async () => (await client.get(configMaps, { namespace, name: "future" })).data?.["a"] === "1",
  );
  await installed(client, "future");
  expect(await client.get(installPlan.kind, { namespace, name: "future" })).toMatchObject({
    spec: { future, stages: [{ future }] },
    status: { future },
  });
});

function timeOfEstablishing(definition: object): string {
  const { status } = definition as {
    readonly status?: {
      readonly conditions?: readonly { type: string; status: string; lastTransitionTime: string }[];
    };
  };
  const found = status?.conditions?.find(({ type, status: is }) => type === "Established" && is === "True");
  return found?.lastTransitionTime ?? "";
}

async function createPlan(client: Client, name: string, given: object): Promise<void> {
  const { apiVersion, kind } = aPlan(name);
  const spec = { serviceAccountName: "installer", ...given };
  await client.create(installPlan.kind, { apiVersion, kind, metadata: { name, namespace }, spec } as never);
}

async function installed(
  client: Client,
  name: string,
  {
    withinMs = 60_000,
    note = () => undefined,
  }: { withinMs?: number; note?: (phase: string) => unknown } = {},
): Promise<void> {
  await eventually(
    async (see) => {
      const { status } = await client.get(installPlan.kind, { namespace, name });
      note(status?.phase ?? "");
      see(status);
      return status?.phase === "Installed";
    },
    { withinMs },
  );
}
