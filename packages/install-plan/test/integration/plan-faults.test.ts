import { installPlan } from "@quartermaster/api";
import { realSystem } from "@quartermaster/runtime";
import {
  closeAfter,
  conflict,
  connect,
  eventually,
  expired,
  isWritePoint,
  type SeenRequest,
  startFaultProxy,
  startOperator,
  tooManyRequests,
} from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { widget, widgets } from "../support/definitions.ts";
import { crds } from "../support/kinds.ts";
import { configMap, deployment, gated, inline, job } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { allPermissions, configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const isConfigMapWrite = (request: SeenRequest): boolean =>
  isWritePoint(request) && request.resource === "configmaps";

async function edit(bench: Workbench, name: string, value: string): Promise<void> {
  await bench.client.patch(
    configMaps,
    { namespace: bench.namespace, name },
    { patch: { kind: "merge", body: { data: { a: value } } }, fieldManager: "kubectl-edit" },
  );
}

async function valueOf(bench: Workbench, name: string): Promise<string | undefined> {
  return (await bench.client.get(configMaps, { namespace: bench.namespace, name })).data?.["a"];
}

describe("what can go wrong around a plan", () => {
  test("[install-plan/115] a stage that is late is stalled, and continues when it gets ready after all", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(
      bench.plan("p", [
        { name: "s", timeoutSeconds: 1, resources: [gated("slow")] },
        { name: "t", resources: [configMap("next")] },
      ]),
    );
    const { status } = await bench.until("p", ({ phase }) => phase === "Failed");
    expect(conditionOf(status, "Stalled")).toMatchObject({ status: "True", reason: "StageTimeout" });
    await bench.openGate("slow");
    const done = await bench.installed("p");
    expect(conditionOf(done.status, "Stalled")?.status).toBe("False");
  });

  test("[install-plan/115] the time of a stage continues while no operator runs", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const first = await bench.operate();
    await bench.create(bench.plan("p", [{ name: "s", resources: [gated("slow")] }]));
    await bench.until("p", ({ counts }) => counts?.inProgress === 1);
    await first.stop();
    const ref = { namespace: bench.namespace, name: "p" };
    const body = { status: { stageStartedAt: new Date(Date.now() - 3_600_000).toISOString() } };
    await bench.client.patch(installPlan.kind, ref, {
      patch: { kind: "merge", body },
      subresource: "status",
    });
    await bench.operate();
    const { status } = await bench.until("p", ({ phase }) => phase === "Failed", 60_000);
    expect(conditionOf(status, "Stalled")).toMatchObject({ status: "True", reason: "StageTimeout" });
  });

  test("[install-plan/119] a server that requests timeout is given it, and the plan does not fail", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await using proxy = await startFaultProxy({ upstream: bench.operatorAccess });
    await using link = connect({ ...proxy.access, token: bench.operatorAccess.token });
    proxy.inject(isConfigMapWrite, tooManyRequests(1), 4);
    await bench.operate({ transport: link.transport });
    const phases = new Set<string>();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.until("p", (status) => {
      phases.add(status.phase ?? "");
      return conditionOf(status, "Ready")?.status === "True";
    });
    expect(phases.has("Failed")).toBe(false);
    expect(proxy.trace.filter(isConfigMapWrite).length).toBeGreaterThanOrEqual(5);
  });

  test(
    "[install-plan/120] watches that break or expire hide no drift for long",
    { timeout: 400_000 },
    async () => {
      await using bench = await setUpWorkbench({ isOperating: false });
      await using proxy = await startFaultProxy({ upstream: bench.operatorAccess });
      await using link = connect({ ...proxy.access, token: bench.operatorAccess.token });
      const isWatch = (request: SeenRequest): boolean =>
        request.verb === "watch" && request.resource === "configmaps";
      await bench.operate({ transport: link.transport });
      await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
      await bench.installed("p");
      const rounds = process.env["QM_CAMPAIGN"] === "1" ? 3 : 1;
      for (let round = 0; round < rounds; round += 1) {
        proxy.inject(isWatch, { kind: "watch", transform: closeAfter(300) }, 2);
        proxy.inject(isWatch, expired(), 1);
        proxy.cutConnections();
        await edit(bench, "c", `round ${round}`);
        // A watch that fell silent counts as lost after 85 s.
        await eventually(async () => (await valueOf(bench, "c")) === "1", { withinMs: 100_000 });
      }
    },
  );

  test(
    "[install-plan/121] a replica that loses its leader continues where that one stopped",
    { timeout: 120_000 },
    async () => {
      await using bench = await setUpWorkbench({ isOperating: false });
      await using proxy = await startFaultProxy({ upstream: bench.operatorAccess });
      const flags = ["--watch-namespace", bench.namespace, "--lease-namespace", bench.namespace];
      await using first = await startOperator({ ...proxy.access, token: bench.operatorAccess.token }, [
        ...flags,
        "--identity",
        "first",
      ]);
      await eventually((see) => see(first.output).includes("operator started"));
      const { struck } = proxy.inject(
        ({ name, ...request }) => isConfigMapWrite({ name, ...request }) && name === "c3",
        { kind: "crash-after-commit", kill: () => first.kill() },
      );
      const names = [0, 1, 2, 3, 4, 5].map((index) => `c${index}`);
      await bench.create(bench.plan("p", [{ name: "s", resources: names.map((name) => configMap(name)) }]));
      await struck;
      await first.ended();
      const position = await bench.audit.position();
      await using second = await startOperator(bench.operatorAccess, [...flags, "--identity", "second"]);
      await bench.until("p", (status) => conditionOf(status, "Ready")?.status === "True", 60_000);
      expect((await bench.writes(position)).map(({ name }) => name)).toEqual(["c4", "c5"]);
      expect(second.output).not.toContain("reconcile failed");
    },
  );

  test("[install-plan/123] an operator whose clock is an hour off times nothing out immediately", async () => {
    for (const skewMs of [3_600_000, -3_600_000]) {
      await using bench = await setUpWorkbench({ isOperating: false });
      const real = realSystem();
      await bench.operate({ system: { ...real, wallMs: () => real.wallMs() + skewMs } });
      await bench.create(
        bench.plan("p", [
          {
            name: "s",
            timeoutSeconds: 60,
            resources: [deployment("web")],
            jobs: [job("j", "complete", { timeoutSeconds: 60 })],
          },
        ]),
      );
      const phases = new Set<string>();
      await bench.until("p", (status) => {
        phases.add(status.phase ?? "");
        return conditionOf(status, "Ready")?.status === "True";
      });
      expect(phases.has("Failed")).toBe(false);
    }
  });

  test("[install-plan/124] a status that conflicts again and again repeats no write of an object", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await using proxy = await startFaultProxy({ upstream: bench.operatorAccess });
    await using link = connect({ ...proxy.access, token: bench.operatorAccess.token });
    await bench.operate({ transport: link.transport });
    const position = await bench.audit.position();
    let count = 0;
    const isEveryOtherStatus = ({ resource, subresource, verb }: SeenRequest): boolean => {
      if (resource !== "installplans" || subresource !== "status" || verb !== "patch") return false;
      count += 1;
      return count % 3 !== 0;
    };
    proxy.inject(isEveryOtherStatus, conflict(), 40);
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("a"), configMap("b")] }]));
    await bench.installed("p");
    expect((await bench.writes(position)).map(({ name }) => name)).toEqual(["a", "b"]);
  });

  test("[install-plan/81] a CRD that a user deletes comes back, and then its objects", async () => {
    await using bench = await setUpWorkbench({ rules: [], clusterRules: [allPermissions] });
    const kind = widgets(`${bench.namespace}.example.org`);
    bench.use(removing(bench.client, crds, { name: kind.name }));
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [inline(kind.object), inline(widget(kind, "one"))] }], {
        scope: "Cluster",
      }),
    );
    const { metadata } = await bench
      .installed("p")
      .then(async () => await bench.client.get(crds, { name: kind.name }));
    await bench.client.delete(crds, { name: kind.name });
    await eventually(async (see) => {
      see((await bench.read("p")).status);
      const found = await bench.client.find(crds, { name: kind.name });
      return found !== undefined && found.metadata.uid !== metadata.uid;
    });
    await eventually(async (see) => {
      see((await bench.read("p")).status);
      return (await bench.client.find(kind.kind, { namespace: bench.namespace, name: "one" })) !== undefined;
    });
    await bench.installed("p");
  });
});
