import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { deletesPlans } from "../support/grants.ts";
import { bystanderInstalls, letMalloryIn } from "../support/mallory.ts";
import { configMap } from "../support/manifests.ts";
import { enforcePolicy } from "../support/policy.ts";
import { configMaps, setUpWorkbench } from "../support/workbench.ts";

const empty = [{ name: "s", resources: [] }];
const byName = { replaces: { plans: [{ name: "a" }] }, historyLimit: 0 };
const bySelector = { replaces: { selector: "app=shop" }, historyLimit: 0 };

describe("taking over from a plan needs the permission to delete it", () => {
  test.each([
    { name: "by name", spec: byName },
    { name: "by selector", spec: bySelector },
  ])("[security/96] an empty plan $name leaves a waiting plan of another client alone", async ({ spec }) => {
    await using bench = await setUpWorkbench();
    const mallory = await letMalloryIn(bench);
    const victim = bench.plan("a", [{ name: "s", resources: [configMap("c")] }], { approval: "Manual" });
    await bench.create({ ...victim, metadata: { ...victim.metadata, labels: { app: "shop" } } });
    const { metadata, status: before } = await bench.inPhase("a", "AwaitingApproval");
    await mallory.create(mallory.plan("evil", empty, spec));
    const { status } = await bench.until(
      "evil",
      ({ phase }) => phase === "Forbidden" || phase === "Installed",
    );
    await bystanderInstalls(bench);
    expect(status?.phase).toBe("Forbidden");
    expect(status?.message).toContain(
      `powerless may not delete installplans.install.quartermaster.dev a in ${bench.namespace}`,
    );
    expect(conditionOf(status, "Authorized")?.reason).toBe("PermissionsMissing");
    expect(status?.replaces).toBeUndefined();
    expect(status?.preview).toBeUndefined();
    const after = await bench.read("a");
    expect(after.metadata.uid).toBe(metadata.uid);
    expect(after.status).toEqual(before);
    await bench.patchPlan("a", { spec: { approved: true } });
    await bench.installed("a");
  });

  test("[security/96] the recorded author counts, however much the account of the plan may do", async () => {
    await using bench = await setUpWorkbench();
    await enforcePolicy(bench, "installplan-author-record.yaml");
    const mallory = await letMalloryIn(bench, { accountRules: [deletesPlans] });
    await bench.create(bench.plan("a", [{ name: "s", resources: [configMap("c")] }], { approval: "Manual" }));
    const { metadata } = await bench.inPhase("a", "AwaitingApproval");
    const evil = mallory.plan("evil", empty, byName);
    await eventually(async () => {
      const tried = await mallory.client.create(installPlan.kind, evil, { dryRun: true });
      return tried.metadata.annotations?.["install.quartermaster.dev/author"] === mallory.user;
    });
    await mallory.create(evil);
    const { status } = await bench.until(
      "evil",
      ({ phase }) => phase === "Forbidden" || phase === "Installed",
    );
    await bystanderInstalls(bench);
    expect(status?.message).toContain(`${mallory.user} may not delete installplans`);
    expect((await bench.read("a")).metadata.uid).toBe(metadata.uid);
  });

  test("[security/96] a plan without the permission is no rival and hands no settings on", async () => {
    await using bench = await setUpWorkbench();
    const mallory = await letMalloryIn(bench);
    for (const name of ["a", "other"]) {
      await bench.create(bench.plan(name, [{ name: "s", resources: [configMap(name)] }]));
      await bench.installed(name);
    }
    // A rival for a; and, taken over together with a, one that would bring another plan and a circle along.
    await mallory.create(mallory.plan("rival", empty, byName));
    const plans = [{ name: "b" }, { name: "other" }];
    const bait = mallory.plan("bait", empty, { replaces: { plans } });
    await mallory.create({ ...bait, metadata: { ...bait.metadata, labels: { app: "shop" } } });
    for (const name of ["rival", "bait"]) await bench.until(name, ({ phase }) => phase !== undefined);
    const replaces = { plans: [{ name: "a" }], selector: "app=shop" };
    await bench.create(bench.plan("b", [{ name: "s", resources: [configMap("a")] }], { replaces }));
    const { status } = await bench.installed("b");
    await bystanderInstalls(bench);
    expect(status?.replaces?.map(({ name }) => name)).toEqual(["a", "bait"]);
    expect((await bench.read("other")).status?.phase).toBe("Installed");
  });

  test("[security/96] a claim in a status counts only with the permission", async () => {
    await using bench = await setUpWorkbench();
    const mallory = await letMalloryIn(bench);
    const { metadata } = await bench.create(bench.plan("a", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("a");
    await mallory.create(mallory.plan("evil", empty, byName));
    await bench.inPhase("evil", "Forbidden");
    const replaces = [{ name: "a", uid: metadata.uid ?? "", state: "Superseded" }];
    await bench.client.patch(
      installPlan.kind,
      { namespace: bench.namespace, name: "evil" },
      { patch: { kind: "merge", body: { status: { replaces } } }, subresource: "status" },
    );
    await bystanderInstalls(bench);
    // A reconcile of the plan is known to have seen the claim when it has restored what was deleted after it.
    await bench.client.delete(configMaps, { namespace: bench.namespace, name: "c" });
    await bench.until("a", ({ states }) => states?.[0] === "M" || states?.[0] === "R");
    const { status } = await bench.installed("a");
    expect(status?.phase).toBe("Installed");
    expect(status?.replacedBy).toBeUndefined();
  });

  test("[security/96] superseded plans that the author may not delete are not forgotten", async () => {
    await using bench = await setUpWorkbench();
    const mayDeleteB = { ...deletesPlans, resourceNames: ["b"] };
    const mallory = await letMalloryIn(bench, { accountRules: [mayDeleteB] });
    await bench.create(bench.plan("a", [{ name: "s", resources: [] }]));
    await bench.installed("a");
    await bench.create(bench.plan("b", empty, { replaces: { plans: [{ name: "a" }] } }));
    await bench.installed("b");
    await bench.inPhase("a", "Superseded");
    await mallory.create(mallory.plan("c", empty, { replaces: { plans: [{ name: "b" }] }, historyLimit: 0 }));
    await bench.installed("c");
    await bystanderInstalls(bench);
    await expect
      .poll(async () => (await bench.events("c")).map(({ reason }) => reason), { timeout: 10_000 })
      .toContain("NotForgotten");
    await expect
      .poll(async () => await bench.client.find(installPlan.kind, { namespace: bench.namespace, name: "b" }))
      .toBeUndefined();
    expect((await bench.read("a")).status?.phase).toBe("Superseded");
  });
});
