import { aConfigMap } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { configMaps } from "../support/kinds.ts";
import { configMap } from "../support/manifests.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const manual = { approval: "Manual", lifecycle: { adoption: "IfUnowned" } } as const;

describe("plans that wait for approval", () => {
  test("[install-plan/113] shows what it would do and does nothing until it is approved", async () => {
    await using bench = await setUpWorkbench();
    await bench.client.create(configMaps, aConfigMap({ name: "there", namespace: bench.namespace }));
    const position = await bench.audit.position();
    const resources = [configMap("new"), configMap("there")];
    await bench.create(bench.plan("p", [{ name: "s", resources }], manual));
    const { status } = await bench.inPhase("p", "AwaitingApproval");
    expect(status?.preview).toMatchObject({ create: 1, adopt: 1, update: 0, noop: 0 });
    expect(status?.preview?.details?.map(({ object, action }) => [object.name, action])).toEqual([
      ["new", "create"],
      ["there", "adopt"],
    ]);
    expect(conditionOf(status, "Approved")?.status).toBe("False");
    expect(await bench.writes(position)).toEqual([]);
    const approvedPreview = status?.preview?.digest;
    await bench.patchPlan("p", { spec: { approved: true, approvedPreview } });
    await bench.installed("p");
    await expect(bench.patchPlan("p", { spec: { approved: false } })).rejects.toMatchObject({
      class: "invalid",
    });
  });

  test("[install-plan/114] an approval of an older preview is no approval of what would be done now", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }], manual));
    const first = await bench.inPhase("p", "AwaitingApproval");
    const old = first.status?.preview?.digest;
    expect(first.status?.preview).toMatchObject({ create: 1, adopt: 0 });
    await bench.client.create(
      configMaps,
      aConfigMap({ name: "c", namespace: bench.namespace, data: { a: "0" } }),
    );
    const position = await bench.audit.position();
    await bench.patchPlan("p", { spec: { approved: true, approvedPreview: old } });
    // A reconcile between the two changes sees the new preview before the approval.
    const second = await bench.until(
      "p",
      ({ preview, message = "" }) => preview?.digest !== old && message.includes("has changed since"),
    );
    expect(second.status).toMatchObject({ phase: "AwaitingApproval", preview: { create: 0, adopt: 1 } });
    expect(conditionOf(second.status, "Approved")?.status).toBe("False");
    expect(await bench.writes(position)).toEqual([]);
    await bench.patchPlan("p", { spec: { approvedPreview: second.status?.preview?.digest } });
    await bench.installed("p");
  });

  test("[install-plan/113] the preview of a plan that waits follows the plan that it replaces", async () => {
    await using bench = await setUpWorkbench();
    const stages = [{ name: "s", resources: [configMap("c")] }];
    await bench.create(bench.plan("a", stages));
    await bench.installed("a");
    await bench.create(bench.plan("b", stages, { approval: "Manual", replaces: { plans: [{ name: "a" }] } }));
    const { status } = await bench.inPhase("b", "AwaitingApproval");
    expect(status?.preview).toMatchObject({ takeover: 1, create: 0 });
    await bench.deletePlan("a");
    const later = await bench.until("b", ({ preview }) => preview?.create === 1, 8_000);
    expect(later.status?.preview).toMatchObject({ takeover: 0, create: 1 });
  });
});
