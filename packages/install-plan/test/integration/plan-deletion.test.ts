import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { widget, widgets } from "../support/definitions.ts";
import { clusterRoles, crds, namespaces, serviceAccounts } from "../support/kinds.ts";
import { configMap, deployment, inline, job } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { allPermissions, configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

async function gone(bench: Workbench, name: string): Promise<void> {
  await eventually(async (see) => {
    const found = await bench.client.find(installPlan.kind, { namespace: bench.namespace, name });
    see(found?.status);
    return found === undefined;
  });
}

async function exists(bench: Workbench, name: string): Promise<boolean> {
  return (await bench.client.find(configMaps, { namespace: bench.namespace, name })) !== undefined;
}

async function hold(bench: Workbench, name: string, finalizers: readonly string[] | null): Promise<void> {
  const body = { metadata: { finalizers } };
  await bench.client.patch(
    configMaps,
    { namespace: bench.namespace, name },
    { patch: { kind: "merge", body }, fieldManager: "holder" },
  );
}

describe("a plan is deleted", () => {
  test("[install-plan/102] objects go in the reverse order, a stage at a time", async () => {
    await using bench = await setUpWorkbench();
    const stages = ["a", "b", "c"].map((name) => ({
      name,
      resources: [configMap(`${name}0`), configMap(`${name}1`)],
    }));
    await bench.create(bench.plan("p", stages));
    await bench.installed("p");
    const position = await bench.audit.position();
    await bench.deletePlan("p");
    await gone(bench, "p");
    const deletes = (await bench.writes(position))
      .filter(({ verb }) => verb === "delete")
      .map(({ name }) => name);
    expect(deletes).toEqual(["c1", "c0", "b1", "b0", "a1", "a0"]);
  });

  test("[install-plan/103] a custom resource is deleted before the controller that has to release it", async () => {
    await using bench = await setUpWorkbench({ rules: [], clusterRules: [allPermissions] });
    const kind = widgets(`${bench.namespace}.example.org`);
    const { apiVersion } = widget(kind, "thing");
    await bench.create(
      bench.plan(
        "p",
        [
          { name: "s0", resources: [inline(kind.object)] },
          { name: "s1", resources: [deployment("controller")] },
          { name: "s2", resources: [inline(widget(kind, "thing"))] },
        ],
        { scope: "Cluster" },
      ),
    );
    await bench.installed("p");
    const ref = { namespace: bench.namespace, name: "thing" };
    await bench.client.patch(kind.kind, ref, {
      patch: { kind: "merge", body: { metadata: { finalizers: ["example.org/controller"] } } },
      fieldManager: "controller",
    });
    const position = await bench.audit.position();
    await bench.deletePlan("p");
    const { status } = await bench.until(
      "p",
      (now) => conditionOf(now, "DeletionBlocked")?.status === "True",
    );
    expect(status?.deletion?.blockedBy?.[0]).toMatchObject({
      object: { apiVersion, name: "thing" },
      finalizers: ["example.org/controller"],
    });
    expect((await bench.writes(position)).filter(({ resource }) => resource === "deployments")).toEqual([]);
    await bench.client.patch(kind.kind, ref, {
      patch: { kind: "merge", body: { metadata: { finalizers: null } } },
      fieldManager: "controller",
    });
    await gone(bench, "p");
  });

  test("[install-plan/104] what a foreign finalizer holds is named; others of its stage go all the same", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("free"), configMap("held")] }]));
    await bench.installed("p");
    await hold(bench, "held", ["example.org/hold"]);
    await bench.deletePlan("p");
    const { status } = await bench.until(
      "p",
      (now) => conditionOf(now, "DeletionBlocked")?.status === "True",
    );
    expect(status?.deletion).toMatchObject({
      remaining: 1,
      blockedBy: [{ object: { name: "held" }, finalizers: ["example.org/hold"] }],
    });
    expect(await exists(bench, "free")).toBe(false);
    await hold(bench, "held", null);
    await gone(bench, "p");
  });

  test("[install-plan/105] after its time the plan lets go of what it cannot delete", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [configMap("held")] }], {
        deletion: { timeoutSeconds: 1, onTimeout: "Orphan", ifUnauthorized: "Block" },
      }),
    );
    await bench.installed("p");
    await hold(bench, "held", ["example.org/hold"]);
    await bench.deletePlan("p");
    await gone(bench, "p");
    const left = await bench.client.get(configMaps, { namespace: bench.namespace, name: "held" });
    expect(left.metadata.labels ?? {}).toEqual({});
    await hold(bench, "held", null);
  });

  test("[install-plan/106] without its account the plan says what is in the way, or lets go if told", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("block", [{ name: "s", resources: [configMap("a")] }]));
    await bench.create(
      bench.plan("orphan", [{ name: "s", resources: [configMap("b")] }], {
        deletion: { timeoutSeconds: 0, onTimeout: "Wait", ifUnauthorized: "Orphan" },
      }),
    );
    await bench.installed("block");
    await bench.installed("orphan");
    await bench.client.delete(serviceAccounts, { namespace: bench.namespace, name: bench.account });
    await bench.deletePlan("block");
    await bench.deletePlan("orphan");
    await gone(bench, "orphan");
    const { status } = await bench.until(
      "block",
      (now) => conditionOf(now, "DeletionBlocked")?.status === "True",
    );
    expect(conditionOf(status, "DeletionBlocked")?.message).toContain(bench.account);
    expect(await exists(bench, "a")).toBe(true);
    await bench.patchPlan("block", { spec: { deletion: { ifUnauthorized: "Orphan" } } });
    await gone(bench, "block");
  });

  test(
    "[install-plan/107] a namespace that is deleted takes its plans with it; what is outside stays, with an event",
    { timeout: 240_000 },
    async () => {
      await using bench = await setUpWorkbench({ rules: [], clusterRules: [allPermissions] });
      const outside = `outside-${bench.namespace}`;
      const role = {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: outside },
        rules: [],
      };
      await bench.create(
        bench.plan("p", [{ name: "s", resources: [inline(role), configMap("c")] }], { scope: "Cluster" }),
      );
      await bench.installed("p");
      await bench.client.delete(serviceAccounts, { namespace: bench.namespace, name: bench.account });
      await bench.client.delete(namespaces, { name: bench.namespace });
      await eventually(
        async () => (await bench.client.find(namespaces, { name: bench.namespace })) === undefined,
        { withinMs: 180_000 },
      );
      expect(await bench.client.find(clusterRoles, { name: outside })).toBeDefined();
      await bench.client.delete(clusterRoles, { name: outside });
    },
  );

  test("[install-plan/108] a CRD with objects of others stays and is named; the plan goes", async () => {
    await using bench = await setUpWorkbench({ rules: [], clusterRules: [allPermissions] });
    const kind = widgets(`${bench.namespace}.example.org`);
    bench.use(removing(bench.client, crds, { name: kind.name }));
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [inline(kind.object), inline(widget(kind, "ours"))] }], {
        scope: "Cluster",
      }),
    );
    await bench.installed("p");
    await bench.client.create(kind.kind, {
      ...widget(kind, "theirs"),
      metadata: { name: "theirs", namespace: bench.namespace },
    });
    await bench.deletePlan("p");
    await gone(bench, "p");
    expect(await bench.client.find(kind.kind, { namespace: bench.namespace, name: "theirs" })).toBeDefined();
    expect(await bench.client.find(kind.kind, { namespace: bench.namespace, name: "ours" })).toBeUndefined();
    const note = await eventually(
      async () => (await bench.events("p")).find(({ reason }) => reason === "Protected")?.note,
    );
    expect(note).toContain(kind.kind.plural);
  });

  test("a namespace with objects of others stays and is named, an empty one goes", async () => {
    await using bench = await setUpWorkbench({ rules: [], clusterRules: [allPermissions] });
    const [used, unused] = ["used", "unused"].map((name) => `${bench.namespace}-${name}`);
    if (used === undefined || unused === undefined) throw new Error("no names");
    bench.use(removing(bench.client, namespaces, { name: used }));
    const inside = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "ours", namespace: used } };
    const homes = [used, unused].map((name) =>
      inline({ apiVersion: "v1", kind: "Namespace", metadata: { name } }),
    );
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [...homes, inline(inside)] }], { scope: "Cluster" }),
    );
    await bench.installed("p");
    const theirs = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "theirs", namespace: used } };
    await bench.client.create(configMaps, theirs);
    await bench.deletePlan("p");
    await gone(bench, "p");
    expect(await bench.client.find(configMaps, { namespace: used, name: "theirs" })).toBeDefined();
    expect(await bench.client.find(namespaces, { name: unused })).toBeUndefined();
  });

  test("[install-plan/109] a plan that was replaced takes nothing with it", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("a");
    await bench.create(
      bench.plan("b", [{ name: "s", resources: [configMap("c")] }], {
        replaces: { plans: [{ name: "a" }], finishWhen: "Ready", onFailure: "Hold" },
      }),
    );
    await bench.installed("b");
    await bench.until("a", ({ phase }) => phase === "Superseded");
    const position = await bench.audit.position();
    await bench.deletePlan("a");
    await gone(bench, "a");
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/110] cascade=orphan leaves everything, without marks", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("p");
    await bench.client.delete(
      installPlan.kind,
      { namespace: bench.namespace, name: "p" },
      { propagation: "Orphan" },
    );
    await gone(bench, "p");
    const left = await bench.client.get(configMaps, { namespace: bench.namespace, name: "c" });
    expect(left.data).toEqual({ a: "1" });
    expect(left.metadata.labels ?? {}).toEqual({});
    expect(left.metadata.annotations ?? {}).toEqual({});
  });

  test("[install-plan/111] deletion works from every phase", async () => {
    await using bench = await setUpWorkbench();
    const failing = { name: "s", resources: [configMap("f")], jobs: [job("fails", "fail")] };
    await bench.create(
      bench.plan("failed", [failing], { retry: { initialSeconds: 600, maxSeconds: 600, maxAttempts: 0 } }),
    );
    await bench.create(
      bench.plan("invalid", [
        {
          name: "s",
          resources: [inline({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "Not A Name" } })],
        },
      ]),
    );
    await bench.create(
      bench.plan("waiting", [{ name: "s", resources: [configMap("w")] }], { approval: "Manual" }),
    );
    await bench.create(bench.plan("old", [{ name: "s", resources: [configMap("o")] }]));
    await bench.installed("old");
    await bench.create(
      bench.plan("new", [{ name: "s", resources: [configMap("n")], jobs: [job("gate", "run")] }], {
        replaces: { plans: [{ name: "old" }], finishWhen: "Ready", onFailure: "Hold" },
      }),
    );
    await bench.until("failed", ({ phase }) => phase === "Failed");
    await bench.until("invalid", ({ phase }) => phase === "Invalid");
    await bench.until("waiting", ({ phase }) => phase === "AwaitingApproval");
    await bench.until("old", ({ phase }) => phase === "Replacing");
    for (const name of ["failed", "invalid", "waiting", "old", "new"]) await bench.deletePlan(name);
    for (const name of ["failed", "invalid", "waiting", "old", "new"]) await gone(bench, name);
    for (const name of ["f", "w", "o", "n"]) expect(await exists(bench, name)).toBe(false);
  });

  test("[install-plan/112] [security/15] an object that another client made again under the name is not deleted", async () => {
    await using bench = await setUpWorkbench();
    const left = configMap("c", { a: "1" }, { lifecycle: { recreate: false } });
    await bench.create(bench.plan("p", [{ name: "s", resources: [left] }]));
    await bench.installed("p");
    const ref = { namespace: bench.namespace, name: "c" };
    await bench.client.delete(configMaps, ref);
    await bench.client.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: ref,
      data: { theirs: "yes" },
    });
    await bench.deletePlan("p");
    await gone(bench, "p");
    expect((await bench.client.get(configMaps, ref)).data).toEqual({ theirs: "yes" });
  });
});
