import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { endPods } from "../support/end-pods.ts";
import { configMap, deployment, job } from "../support/manifests.ts";
import { configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

function stage(names: readonly string[], data: Readonly<Record<string, string>> = { a: "1" }): object {
  return { name: "s", resources: names.map((name) => configMap(name, data)) };
}

function replacing(...names: readonly string[]): object {
  return { replaces: { plans: names.map((name) => ({ name })) } };
}

async function uidsOf(bench: Workbench): Promise<Readonly<Record<string, string>>> {
  const { items } = await bench.client.listPage(configMaps, { namespace: bench.namespace });
  return Object.fromEntries(
    items
      .filter(({ metadata }) => metadata.name !== "kube-root-ca.crt")
      .map(({ metadata }) => [metadata.name, metadata.uid ?? ""]),
  );
}

async function namesOf(bench: Workbench): Promise<readonly string[]> {
  return Object.keys(await uidsOf(bench)).toSorted();
}

const superseded = ({ phase }: { readonly phase?: string | undefined }): boolean => phase === "Superseded";

describe("one plan takes over from another", () => {
  test("[install-plan/82] ten equal objects change hands without a delete", async () => {
    await using bench = await setUpWorkbench();
    const names = Array.from({ length: 10 }, (_, index) => `c${index}`);
    await bench.create(
      bench.plan("a", [
        { name: "s", resources: [...names.map((name) => configMap(name)), deployment("web")] },
      ]),
    );
    await bench.installed("a");
    const before = await uidsOf(bench);
    const position = await bench.audit.position();
    await bench.create(
      bench.plan(
        "b",
        [{ name: "s", resources: [...names.map((name) => configMap(name)), deployment("web")] }],
        replacing("a"),
      ),
    );
    await bench.installed("b");
    await bench.until("a", superseded);
    expect(await uidsOf(bench)).toEqual(before);
    const writes = await bench.writes(position);
    expect(writes.filter(({ verb }) => verb === "delete")).toEqual([]);
    expect(writes).toHaveLength(11);
    const { metadata } = await bench.client.get(
      { ...configMaps, group: "apps", kind: "Deployment", plural: "deployments" },
      { namespace: bench.namespace, name: "web" },
    );
    expect(metadata.generation).toBe(1);
    expect((await bench.read("b")).status).toMatchObject({
      revision: 2,
      replaces: [{ name: "a", state: "Superseded" }],
    });
  });

  test("[install-plan/83,84] what is added comes first, what is dropped goes last, what is to be kept stays", async () => {
    await using bench = await setUpWorkbench();
    const kept = configMap("kept", { a: "1" }, { lifecycle: { cleanup: "Orphan" } });
    await bench.create(
      bench.plan("a", [{ name: "s", resources: [configMap("same"), configMap("gone"), kept] }]),
    );
    await bench.installed("a");
    const position = await bench.audit.position();
    await bench.create(bench.plan("b", [stage(["same", "new"])], replacing("a")));
    await bench.installed("b");
    await bench.until("a", superseded);
    expect(await namesOf(bench)).toEqual(["kept", "new", "same"]);
    const order = (await bench.writes(position)).map(({ verb, name }) => `${verb} ${name ?? ""}`);
    expect(order.indexOf("delete gone")).toBeGreaterThan(order.indexOf("patch new"));
    const orphan = await bench.client.get(configMaps, { namespace: bench.namespace, name: "kept" });
    expect(orphan.metadata.labels ?? {}).toEqual({});
    expect(orphan.metadata.annotations ?? {}).toEqual({});
    expect(orphan.data).toEqual({ a: "1" });
  });

  test("[install-plan/85,86] a selector replaces all that match then, and none that come later", async () => {
    await using bench = await setUpWorkbench();
    const labelled = (name: string): ReturnType<Workbench["plan"]> => {
      const plan = bench.plan(name, [stage([`of-${name}`])]);
      return { ...plan, metadata: { ...plan.metadata, labels: { app: "shop" } } };
    };
    await bench.create(labelled("a1"));
    await bench.create(labelled("a2"));
    await bench.installed("a1");
    await bench.installed("a2");
    await bench.create(
      bench.plan("b", [stage(["of-a1", "of-a2"])], {
        replaces: { selector: "app=shop", finishWhen: "Ready", onFailure: "Hold" },
      }),
    );
    await bench.installed("b");
    await bench.until("a1", superseded);
    await bench.until("a2", superseded);
    await bench.create(labelled("a3"));
    await bench.installed("a3");
    expect((await bench.read("a3")).status?.phase).toBe("Installed");
    await bench.patchPlan("b", { metadata: { labels: { touched: "yes" } } });
    await eventually(async () =>
      (await bench.events("b")).some(({ reason, note }) => reason === "NotReplaced" && note.includes("a3")),
    );
  });

  test("[first-use/7] a plan that names one that does not exist is installed and keeps saying so; one of that name that comes later keeps its objects", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("b", [stage(["of-b"])], replacing("petshop")));
    const { status } = await bench.installed("b");
    const output =
      "Nothing is taken over from petshop: spec.replaces.plans names what did not exist when this plan started.";
    expect(status?.message).toBe(`Everything is installed and ready. ${output}`);
    expect(conditionOf(status, "Validated")).toMatchObject({
      status: "True",
      reason: "NotReplaced",
      message: `All objects are valid. ${output}`,
    });
    await eventually(async () =>
      (await bench.events("b")).some(
        ({ reason, note }) => reason === "NotReplaced" && note.includes("petshop"),
      ),
    );
    await bench.create(bench.plan("petshop", [stage(["of-petshop"])]));
    await bench.installed("petshop");
    await bench.patchPlan("b", { metadata: { labels: { touched: "yes" } } });
    expect((await bench.installed("b")).status?.message).toContain(output);
    expect((await bench.read("petshop")).status?.phase).toBe("Installed");
  });

  test("[install-plan/87] a successor that is invalid or forbidden leaves its predecessor alone", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [stage(["c"])]));
    await bench.installed("a");
    const invalid = {
      name: "s",
      resources: [
        configMap("c"),
        { manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, dta: {} } },
      ],
    };
    await bench.create(bench.plan("b", [invalid], replacing("a")));
    await bench.until("b", ({ phase }) => phase === "Invalid");
    expect((await bench.read("a")).status).toMatchObject({ phase: "Installed" });
    expect((await bench.read("a")).status?.replacedBy).toBeUndefined();
    await bench.client.patch(
      configMaps,
      { namespace: bench.namespace, name: "c" },
      { patch: { kind: "merge", body: { data: { a: "x" } } }, fieldManager: "kubectl-edit" },
    );
    await eventually(
      async () =>
        (await bench.client.get(configMaps, { namespace: bench.namespace, name: "c" })).data?.["a"] === "1",
    );
  });

  test("[install-plan/88,92] a successor that hangs keeps what it has, the rest stays, no one repairs", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [{ name: "s", resources: [configMap("one"), configMap("two")] }]));
    await bench.installed("a");
    const before = await uidsOf(bench);
    await bench.create(
      bench.plan(
        "b",
        [
          { name: "s0", resources: [configMap("one", { a: "new" })], jobs: [job("gate", "run")] },
          { name: "s1", resources: [configMap("two", { a: "new" })] },
        ],
        replacing("a"),
      ),
    );
    await bench.until("b", (status) => status.jobs?.[0]?.state === "Running");
    await bench.until("a", ({ phase }) => phase === "Replacing");
    await bench.client.patch(
      configMaps,
      { namespace: bench.namespace, name: "two" },
      { patch: { kind: "merge", body: { data: { a: "drift" } } }, fieldManager: "kubectl-edit" },
    );
    await bench.patchPlan("a", { metadata: { labels: { touched: "yes" } } });
    await bench.until(
      "a",
      (status) => status.phase === "Replacing" && conditionOf(status, "Drifted")?.status === "True",
    );
    expect(await uidsOf(bench)).toEqual(before);
    expect((await bench.client.get(configMaps, { namespace: bench.namespace, name: "two" })).data).toEqual({
      a: "drift",
    });
    await endPods(bench, "Succeeded");
    await bench.installed("b");
    await bench.until("a", superseded);
    expect(await uidsOf(bench)).toEqual(before);
  });

  test("[install-plan/89] a successor that fails and is to roll back leaves everything as it was", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [stage(["x", "y"])]));
    await bench.installed("a");
    const before = await uidsOf(bench);
    const first = {
      name: "s0",
      resources: [configMap("x", { a: "new" }), configMap("only-b")],
      jobs: [job("fails", "fail")],
    };
    const replaces = { plans: [{ name: "a" }], finishWhen: "Ready" as const, onFailure: "Rollback" as const };
    await bench.create(bench.plan("b", [first, stage(["y"], { a: "new" })], { replaces }));
    const { status } = await bench.until("b", (now) => conditionOf(now, "Stalled")?.reason === "RolledBack");
    expect(status?.phase).toBe("Failed");
    await bench.installed("a");
    await eventually(
      async () =>
        (await bench.client.get(configMaps, { namespace: bench.namespace, name: "x" })).data?.["a"] === "1",
    );
    await eventually(async () => (await namesOf(bench)).join() === "x,y");
    expect(await uidsOf(bench)).toEqual(before);
  });

  test("[install-plan/90] the predecessor is deleted in the middle: only what the successor does not name goes", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [stage(["only-a", "both"])]));
    await bench.installed("a");
    await bench.create(
      bench.plan(
        "b",
        [{ name: "g", resources: [configMap("new")], jobs: [job("gate", "run")] }, stage(["both"])],
        replacing("a"),
      ),
    );
    await bench.until("b", (status) => status.jobs?.[0]?.state === "Running");
    await bench.deletePlan("a");
    await eventually(
      async () =>
        (await bench.client.find(installPlan.kind, { namespace: bench.namespace, name: "a" })) === undefined,
    );
    expect(await namesOf(bench)).toEqual(["both", "new"]);
  });

  test("[install-plan/91] the successor is deleted in the middle: its own goes, the predecessor has everything back", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [stage(["x", "y"])]));
    await bench.installed("a");
    const before = await uidsOf(bench);
    await bench.create(
      bench.plan(
        "b",
        [
          {
            name: "g",
            resources: [configMap("x", { a: "new" }), configMap("only-b")],
            jobs: [job("gate", "run")],
          },
          stage(["y"]),
        ],
        replacing("a"),
      ),
    );
    await bench.until("b", (status) => status.jobs?.[0]?.state === "Running");
    await bench.deletePlan("b");
    await eventually(
      async () =>
        (await bench.client.find(installPlan.kind, { namespace: bench.namespace, name: "b" })) === undefined,
    );
    await bench.installed("a");
    await eventually(
      async () =>
        (await bench.client.get(configMaps, { namespace: bench.namespace, name: "x" })).data?.["a"] === "1",
    );
    expect(await uidsOf(bench)).toEqual(before);
  });

  test("[install-plan/93] a third plan takes over from a second that never finished, and from the first", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [stage(["x", "y", "z"])]));
    await bench.installed("a");
    const before = await uidsOf(bench);
    await bench.create(
      bench.plan(
        "b",
        [{ name: "g", resources: [configMap("x")], jobs: [job("gate", "run")] }, stage(["y", "z"])],
        replacing("a"),
      ),
    );
    await bench.until("b", (status) => status.jobs?.[0]?.state === "Running");
    await bench.create(bench.plan("c", [stage(["x", "y", "z"], { a: "3" })], replacing("b")));
    await bench.installed("c");
    await bench.until("a", superseded);
    await bench.until("b", superseded);
    expect(await uidsOf(bench)).toEqual(before);
  });

  test("[install-plan/94,95,96] rivals and circles are invalid; a plan that never began is over immediately", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await bench.create(bench.plan("a", [stage(["x"])], { approval: "Manual" }));
    await bench.create(bench.plan("b", [stage(["x"])], replacing("a")));
    await bench.create(bench.plan("c", [stage(["x"])], replacing("a")));
    await bench.create(bench.plan("d", [stage(["y"])], replacing("e")));
    await bench.create(bench.plan("e", [stage(["y"])], replacing("d")));
    await bench.operate();
    for (const name of ["b", "c"]) {
      const { status } = await bench.until(name, ({ phase }) => phase === "Invalid");
      expect(conditionOf(status, "Validated")?.reason).toBe("ReplaceConflict");
    }
    for (const name of ["d", "e"]) {
      const { status } = await bench.until(name, ({ phase }) => phase === "Invalid");
      expect(conditionOf(status, "Validated")?.reason).toBe("ReplaceCycle");
    }
    expect((await bench.read("a")).status?.phase).toBe("AwaitingApproval");
    await bench.deletePlan("c");
    await bench.installed("b");
    await bench.until("a", superseded);
  });
});
