import { resourceManifest } from "@quartermaster/api";
import { aConfigMap, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { configMaps, secrets } from "../support/kinds.ts";
import { configMap, gated } from "../support/manifests.ts";
import { packed, reference, store, storedName } from "../support/stored.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

const settings = aConfigMap({ name: "settings", data: { a: "1" } });
const other = aConfigMap({ name: "settings", data: { a: "2" } });

function refTo(bench: Workbench, name: string): { readonly namespace: string; readonly name: string } {
  return { namespace: bench.namespace, name };
}

async function install(bench: Workbench): Promise<void> {
  await store(bench, settings);
  await bench.create(bench.plan("p", [{ name: "s", resources: [reference(settings)] }]));
  await bench.installed("p");
}

describe("manifests beside the plan, before it is installed", () => {
  test("[install-plan/18] a missing manifest holds the plan up until it is there", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    const resources = [configMap("before"), reference(settings)];
    await bench.create(bench.plan("p", [{ name: "s", resources }]));
    const { status } = await bench.until("p", ({ phase }) => phase === "Resolving");
    expect(conditionOf(status, "Resolved")).toMatchObject({ status: "False", reason: "ManifestMissing" });
    expect(conditionOf(status, "Resolved")?.message).toContain(storedName(settings));
    expect(await bench.writes(position)).toEqual([]);
    await store(bench, settings);
    const installed = await bench.installed("p");
    expect(installed.metadata.generation).toBe(1);
    expect(conditionOf(installed.status, "Resolved")?.status).toBe("True");
  });

  test("[install-plan/19] a manifest with another digest than the reference stalls the plan", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    await store(bench, other);
    const resources = [configMap("before"), reference(settings, storedName(other))];
    await bench.create(bench.plan("p", [{ name: "s", resources }]));
    const { status } = await bench.until("p", ({ conditions = [] }) => conditions.length > 0);
    expect(conditionOf(status, "Stalled")).toMatchObject({ status: "True", reason: "ContentChanged" });
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/19] a manifest whose content has not the digest that it claims stalls the plan", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    await store(bench, settings, { data: packed(other) });
    await bench.create(bench.plan("p", [{ name: "s", resources: [reference(settings)] }]));
    const { status } = await bench.until("p", ({ conditions = [] }) => conditions.length > 0);
    expect(conditionOf(status, "Stalled")).toMatchObject({ status: "True", reason: "ContentChanged" });
    expect(await bench.writes(position)).toEqual([]);
    const manifest = await eventually(async () => {
      const found = await bench.client.get(resourceManifest.kind, refTo(bench, storedName(settings)));
      return found.status?.valid === undefined ? undefined : found;
    });
    expect(manifest.status?.valid).toBe(false);
  });

  test("[install-plan/20] a manifest cannot be edited", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const { metadata } = await store(bench, settings);
    const body = { spec: { manifest: other } };
    const edit = bench.client.patch(resourceManifest.kind, metadata, { patch: { kind: "merge", body } });
    await expect(edit).rejects.toMatchObject({ class: "invalid" });
    await expect(edit).rejects.toThrow("a manifest is immutable");
  });

  test("[install-plan/25] a manifest in a Secret that can change is refused until it cannot", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    await bench.client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "held", namespace: bench.namespace },
      data: { manifest: Buffer.from(JSON.stringify(settings)).toString("base64") },
    });
    await store(bench, settings, { secretKeyRef: { name: "held", key: "manifest" } });
    await bench.create(bench.plan("p", [{ name: "s", resources: [reference(settings)] }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain("Secret held must be immutable");
    expect(await bench.writes(position)).toEqual([]);
    const patch = { kind: "merge", body: { immutable: true } } as const;
    await bench.client.patch(secrets, refTo(bench, "held"), { patch });
    await bench.installed("p", 20_000);
  });

  test("a manifest in an immutable Secret is installed, seconds after the Secret is there", async () => {
    await using bench = await setUpWorkbench();
    await store(bench, settings, { secretKeyRef: { name: "held", key: "manifest" } });
    await bench.create(bench.plan("p", [{ name: "s", resources: [reference(settings)] }]));
    const waiting = await bench.inPhase("p", "Resolving");
    expect(conditionOf(waiting.status, "Resolved")?.reason).toBe("SecretMissing");
    await bench.client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "held", namespace: bench.namespace },
      immutable: true,
      data: { manifest: Buffer.from(JSON.stringify(settings)).toString("base64") },
    });
    await bench.installed("p", 20_000);
    // It has no account of its own that could look into the Secret: only plans do.
    const found = await eventually(async () => {
      const manifest = await bench.client.get(resourceManifest.kind, refTo(bench, storedName(settings)));
      return manifest.status?.reason === undefined ? undefined : manifest;
    });
    expect(found.status).toMatchObject({ reason: expect.stringContaining("in Secret held") as string });
    expect(found.status?.valid).toBeUndefined();
  });
});

describe("manifests beside the plan, once it is installed", () => {
  test("[install-plan/21] a manifest that comes back with other content stalls the plan and stops repairs", async () => {
    await using bench = await setUpWorkbench();
    await install(bench);
    await bench.client.delete(resourceManifest.kind, refTo(bench, storedName(settings)));
    await bench.client.create(resourceManifest.kind, {
      ...(await storedBody(bench, other)),
      metadata: refTo(bench, storedName(settings)),
    });
    const { status } = await bench.until(
      "p",
      (now) => conditionOf(now, "Stalled")?.reason === "ContentChanged",
    );
    expect(status?.phase).toBe("Degraded");
    const body = { data: { a: "drifted" } };
    await bench.client.patch(configMaps, refTo(bench, "settings"), { patch: { kind: "merge", body } });
    const position = await bench.audit.position();
    // A touch makes sure that a reconcile has seen the drift.
    await bench.patchPlan("p", { spec: { historyLimit: 7 } });
    await bench.until("p", ({ observedGeneration }) => observedGeneration === 2);
    expect(await bench.writes(position)).toEqual([]);
    await bench.deletePlan("p");
    await eventually(
      async () => (await bench.client.find(configMaps, refTo(bench, "settings"))) === undefined,
    );
  });

  test("[install-plan/22] a manifest that was deleted leaves the objects alone, and no one can say whether they drift", async () => {
    await using bench = await setUpWorkbench();
    await install(bench);
    const position = await bench.audit.position();
    await bench.client.delete(resourceManifest.kind, refTo(bench, storedName(settings)));
    const gone = await bench.until("p", (now) => conditionOf(now, "Resolved")?.status === "False");
    expect(gone.status).toMatchObject({
      phase: "Degraded",
      objects: "0/1",
      counts: { total: 1, unknown: 1 },
      states: ["U"],
    });
    await store(bench, settings);
    const back = await bench.until("p", (now) => conditionOf(now, "Resolved")?.status === "True");
    expect(back.status).toMatchObject({ phase: "Installed", counts: { total: 1, ready: 1 }, states: ["R"] });
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/27] a manifest that two plans share goes with the last of them", async () => {
    await using bench = await setUpWorkbench();
    await store(bench, settings);
    const stages = [{ name: "s", resources: [reference(settings)] }];
    await bench.create(bench.plan("one", stages));
    await bench.installed("one");
    await bench.create(bench.plan("two", stages, { lifecycle: { adoption: "Always" } }));
    await bench.until("two", ({ phase }) => phase === "Installed");
    const ref = refTo(bench, storedName(settings));
    const { metadata } = await bench.client.get(resourceManifest.kind, ref);
    expect(metadata.ownerReferences?.map(({ name }) => name).toSorted()).toEqual(["one", "two"]);
    await bench.deletePlan("one");
    const left = await eventually(
      async () => {
        const found = await bench.client.get(resourceManifest.kind, ref);
        return found.metadata.ownerReferences?.length === 1 ? found : undefined;
      },
      { withinMs: 60_000 },
    );
    expect(left.metadata.ownerReferences?.[0]?.name).toBe("two");
    await bench.deletePlan("two");
    await eventually(async () => (await bench.client.find(resourceManifest.kind, ref)) === undefined, {
      withinMs: 60_000,
    });
  });

  test("[install-plan/28] what a plan installs cannot be edited, how it is treated can", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [gated("c")] }]));
    const stages = [{ name: "s", resources: [gated("d")] }];
    await expect(bench.patchPlan("p", { spec: { stages } })).rejects.toMatchObject({
      class: "invalid",
      causes: [
        {
          field: "spec.stages",
          message: expect.stringMatching(/new plan that lists this one in spec\.replaces\.plans$/) as string,
        },
      ],
    });
    for (const lifecycle of [{ adoption: "Always" }, { onImmutable: "Recreate" }, { ignorePaths: ["/data"] }])
      await expect(bench.patchPlan("p", { spec: { lifecycle } })).rejects.toThrow("immutable");
    await bench.patchPlan("p", { spec: { paused: true } });
    await bench.patchPlan("p", { spec: { approved: true, lifecycle: { revert: "Off", cleanup: "Orphan" } } });
    const { spec } = await bench.read("p");
    expect(spec).toMatchObject({
      paused: true,
      approved: true,
      lifecycle: { revert: "Off", cleanup: "Orphan" },
    });
  });
});

async function storedBody(bench: Workbench, object: typeof other) {
  const { apiVersion, kind, spec } = await store(bench, object);
  return { apiVersion, kind, spec };
}
