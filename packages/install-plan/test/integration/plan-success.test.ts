import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { configMaps } from "../support/kinds.ts";
import { configMap, gated, unschedulable } from "../support/manifests.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const foreignValues: Readonly<Record<string, unknown>> = {
  ownerReferences: [
    { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "11111111-1111-1111-1111-111111111111" },
  ],
  uid: "11111111-1111-1111-1111-111111111111",
  resourceVersion: "1",
};

function withMetadata(metadata: object): object {
  return { manifest: { apiVersion: "v1", kind: "ConfigMap", metadata } };
}

describe("a plan that can be carried out", () => {
  test("[install-plan/1] one ConfigMap is created once and the plan says so", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    await bench.create(bench.plan("one", [{ name: "only", resources: [configMap("settings")] }]));
    const { status } = await bench.installed("one");
    expect(status).toMatchObject({ phase: "Installed", states: ["R"], counts: { total: 1, ready: 1 } });
    const made = await bench.client.get(configMaps, { namespace: bench.namespace, name: "settings" });
    expect(made.data).toEqual({ a: "1" });
    const writes = await bench.writes(position);
    expect(writes.map(({ verb, name }) => [verb, name])).toEqual([["patch", "settings"]]);
  });

  test("[install-plan/2] stages follow one another, each after the one before is ready", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    await bench.create(
      bench.plan("three", [
        { name: "a", resources: [configMap("a0"), gated("a1")] },
        { name: "b", resources: [configMap("b0"), configMap("b1")] },
        { name: "c", resources: [configMap("c0"), configMap("c1")] },
      ]),
    );
    await bench.until("three", ({ states }) => states?.[0] === "RP");
    expect((await bench.writes(position)).map(({ name }) => name)).toEqual(["a0", "a1"]);
    await bench.openGate("a1");
    await bench.installed("three");
    const names = (await bench.writes(position)).map(({ name }) => name);
    expect(names).toEqual(["a0", "a1", "b0", "b1", "c0", "c1"]);
  });

  test("[install-plan/3] a stage that waits for nothing but its writes lets the next one begin", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(
      bench.plan("applied", [
        { name: "a", wait: "Applied", resources: [unschedulable("never")] },
        { name: "b", resources: [configMap("next")] },
      ]),
    );
    const { status } = await bench.until("applied", ({ states }) => states?.[1] === "R");
    expect(status?.states).toEqual(["P", "R"]);
    expect(conditionOf(status, "Ready")?.status).toBe("False");
    const settled = await bench.inPhase("applied", "Degraded");
    expect(conditionOf(settled.status, "Ready")?.status).toBe("False");
  });

  test("[install-plan/9] what is there as declared and ours is not written again", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const first = await bench.operate();
    const stages = [
      { name: "a", resources: [configMap("a0"), configMap("a1")] },
      { name: "b", resources: [configMap("b0")] },
    ];
    await bench.create(bench.plan("again", stages));
    await bench.installed("again");
    await first.stop();
    const position = await bench.audit.position();
    await bench.operate();
    // A paused plan writes nothing either; that it says so and comes back shows that the new operator has judged every object.
    await bench.patchPlan("again", { spec: { paused: true } });
    await bench.until("again", ({ message }) => message?.includes("paused") ?? false);
    await bench.patchPlan("again", { spec: { paused: false } });
    const { status } = await bench.installed("again");
    expect(status?.counts).toMatchObject({ total: 3, ready: 3 });
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/10] a list is as many objects as it has items", async () => {
    await using bench = await setUpWorkbench();
    const items = Array.from({ length: 33 }, (_, index) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `item-${index}` },
    }));
    const manifest = { apiVersion: "v1", kind: "ConfigMapList", metadata: {}, items };
    await bench.create(bench.plan("list", [{ name: "s", resources: [{ manifest }] }]));
    const { status } = await bench.installed("list");
    expect(status?.counts).toMatchObject({ total: 33, ready: 33 });
    expect(status?.states).toEqual(["R".repeat(33)]);
    const { items: made } = await bench.client.listPage(configMaps, {
      namespace: bench.namespace,
      labelSelector: "install.quartermaster.dev/plan-id",
    });
    expect(made).toHaveLength(33);
  });

  test("[install-plan/11] identical copies are one object and a warning", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    await bench.create(bench.plan("twice", [{ name: "s", resources: [configMap("c"), configMap("c")] }]));
    const { status } = await bench.installed("twice");
    expect(status?.counts?.total).toBe(1);
    expect(await bench.writes(position)).toHaveLength(1);
    const warning = await eventually(async () =>
      (await bench.events("twice")).find(({ type }) => type === "Warning"),
    );
    expect(warning.note).toContain(`ConfigMap ${bench.namespace}/c: 1 identical copies were dropped`);
  });

  test("[install-plan/13] a status in a manifest is left out with a warning", async () => {
    await using bench = await setUpWorkbench();
    const manifest = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { ports: [{ port: 80 }] },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
    };
    await bench.create(bench.plan("stated", [{ name: "s", resources: [{ manifest }] }]));
    await bench.installed("stated");
    const made = await bench.client.raw({
      method: "GET",
      path: `/api/v1/namespaces/${bench.namespace}/services/web`,
    });
    expect(made).toMatchObject({ status: { loadBalancer: {} } });
    expect(JSON.stringify(made)).not.toContain("192.0.2.1");
    const warning = await eventually(async () =>
      (await bench.events("stated")).find(({ type }) => type === "Warning"),
    );
    expect(warning.note).toContain("status is not applied and was dropped");
  });
});

describe("a plan whose objects cannot be what they say", () => {
  test.each([
    {
      name: "[install-plan/12] two objects of one name that differ",
      resources: [configMap("c", { a: "1" }), configMap("c", { a: "2" })],
      text: ["more than once with different content"],
    },
    ...["ownerReferences", "uid", "resourceVersion"].map((field) => ({
      name: `[install-plan/14] ${field} in a manifest`,
      resources: [configMap("before"), withMetadata({ name: "c", [field]: foreignValues[field] })],
      text: [`metadata.${field}`],
    })),
    {
      name: "[install-plan/15] generateName on a ConfigMap",
      resources: [configMap("before"), withMetadata({ generateName: "c-" })],
      text: ["metadata.generateName"],
    },
  ])("$name is invalid and nothing is written", async ({ resources, text }) => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    await bench.create(bench.plan("bad", [{ name: "s", resources }]));
    const { status } = await bench.inPhase("bad", "Invalid");
    for (const term of text) expect(status?.message).toContain(term);
    expect(conditionOf(status, "Stalled")).toMatchObject({ status: "True", reason: "InvalidManifest" });
    expect(await bench.writes(position)).toEqual([]);
  });
});
