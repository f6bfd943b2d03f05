import { installPlan } from "@quartermaster/api";
import { jobs } from "@quartermaster/runtime/kinds";
import {
  eventually,
  type Fault,
  isWritePoint,
  type OperatorProcess,
  type SeenRequest,
  startFaultProxy,
  startOperator,
} from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { configMap, job } from "../support/manifests.ts";
import { configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const kinds = ["crash-before", "crash-after-commit", "crash-after-answer"] as const;

/** Three stages with a job: some twenty writes from the finalizer to the last status. */
function stages(data: Readonly<Record<string, string>> = { a: "1" }): readonly object[] {
  const names = ["a", "b", "c"];
  return names.map((name) => ({
    name,
    resources: [0, 1, 2].map((index) => configMap(`${name}${index}`, data)),
    ...(name === "b" ? { jobs: [job("migrate", "complete", { keep: "Always" })] } : {}),
  }));
}

/** What must be the same in the end, however often the operator died. */
async function endState(bench: Workbench): Promise<unknown> {
  const { items } = await bench.client.listPage(configMaps, { namespace: bench.namespace });
  const made = items.filter(({ metadata }) => metadata.name !== "kube-root-ca.crt");
  const { items: ran } = await bench.client.listPage(jobs, { namespace: bench.namespace });
  return {
    objects: made
      .toSorted((one, other) => one.metadata.name.localeCompare(other.metadata.name))
      .map(({ metadata, data }) => [
        metadata.name,
        data,
        metadata.labels?.["install.quartermaster.dev/revision"],
      ]),
    jobs: ran.length,
  };
}

function nthWrite(wanted: number): (request: SeenRequest) => boolean {
  let count = 0;
  return (request) => {
    if (!isWritePoint(request) || request.resource.endsWith("reviews")) return false;
    count += 1;
    return count === wanted;
  };
}

interface Crash {
  /** Number of the write, from 1. */
  readonly point: number;
  readonly kind: (typeof kinds)[number];
}

/** Every third write, each kind of crash in turn; `make campaign` tries each kind at each write. */
function crashes(writes: number): readonly Crash[] {
  const points = Array.from({ length: writes }, (_, index) => index + 1);
  const all = points.flatMap((point) => kinds.map((kind) => ({ point, kind })));
  if (process.env["QM_CAMPAIGN"] === "1") return all;
  return all.filter(({ point, kind }) => {
    const round = Math.floor(point / kinds.length);
    return point % kinds.length === 1 && kind === kinds[round % kinds.length];
  });
}

interface Ordeal {
  readonly end: unknown;
  /** Writes of the run, the first life included. */
  readonly writes: number;
}

async function install(wanted: number, kind: (typeof kinds)[number]): Promise<Ordeal> {
  await using bench = await setUpWorkbench({ isOperating: false });
  await using proxy = await startFaultProxy({ upstream: bench.operatorAccess });
  const access = { ...proxy.access, token: bench.operatorAccess.token };
  const operator: { current?: OperatorProcess } = {};
  const fault: Fault = { kind, kill: () => operator.current?.kill() };
  if (wanted > 0) proxy.inject(nthWrite(wanted), fault);
  await using running = await startOperator(access, ["--watch-namespace", bench.namespace]);
  operator.current = running;
  await bench.create(bench.plan("p", stages()));
  if (wanted > 0) {
    await running.ended();
    running.start();
  }
  await bench.installed("p");
  return {
    end: await endState(bench),
    writes: proxy.trace.filter((entry) => isWritePoint(entry) && !entry.resource.endsWith("reviews")).length,
  };
}

describe("the operator is killed", () => {
  test(
    "[install-plan/117] at writes of an install, every third here and all in the campaign: the end is the same",
    { timeout: 600_000 },
    async () => {
      const undisturbed = await install(0, "crash-before");
      expect(undisturbed.end).toMatchObject({ jobs: 1 });
      expect(undisturbed.writes).toBeGreaterThanOrEqual(14);
      const ends: Readonly<Record<string, unknown>>[] = [];
      const open = crashes(undisturbed.writes).values();
      const worker = async (): Promise<void> => {
        for (const { point, kind } of open) {
          const { end } = await install(point, kind);
          ends.push({ point, kind, end });
        }
      };
      await Promise.all([worker(), worker()]);
      for (const { point, kind, end } of ends)
        expect({ point, kind, end }).toEqual({ point, kind, end: undisturbed.end });
    },
  );

  test(
    "[install-plan/118] between a predecessor's word and the first write: the handover continues, no one is left alone",
    { timeout: 120_000 },
    async () => {
      await using bench = await setUpWorkbench({ isOperating: false });
      await using proxy = await startFaultProxy({ upstream: bench.operatorAccess });
      const access = { ...proxy.access, token: bench.operatorAccess.token };
      await using operator = await startOperator(access, ["--watch-namespace", bench.namespace]);
      await bench.create(bench.plan("a", [{ name: "s", resources: [configMap("x"), configMap("y")] }]));
      await bench.installed("a");
      const isFirstWrite = (request: SeenRequest): boolean =>
        isWritePoint(request) && request.resource === "configmaps";
      const { struck } = proxy.inject(isFirstWrite, { kind: "crash-before", kill: () => operator.kill() });
      await bench.create(
        bench.plan("b", [{ name: "s", resources: [configMap("x"), configMap("y")] }], {
          replaces: { plans: [{ name: "a" }], finishWhen: "Ready", onFailure: "Hold" },
        }),
      );
      await struck;
      await operator.ended();
      expect((await bench.read("a")).status?.replacedBy).toMatchObject({ name: "b", state: "InProgress" });
      const { items } = await bench.client.listPage(configMaps, {
        namespace: bench.namespace,
        labelSelector: "install.quartermaster.dev/plan=a",
      });
      expect(items).toHaveLength(2);
      operator.start();
      await bench.installed("b");
      await bench.until("a", ({ phase }) => phase === "Superseded");
    },
  );

  test("in the middle of a deletion: nothing is left over", { timeout: 120_000 }, async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await using proxy = await startFaultProxy({ upstream: bench.operatorAccess });
    const access = { ...proxy.access, token: bench.operatorAccess.token };
    await using operator = await startOperator(access, ["--watch-namespace", bench.namespace]);
    await bench.create(bench.plan("p", stages()));
    await bench.installed("p");
    for (const kind of kinds)
      proxy.inject(({ verb, resource }) => verb === "delete" && resource === "configmaps", {
        kind,
        kill: () => operator.kill(),
      });
    await bench.deletePlan("p");
    for (let lives = 0; lives < kinds.length; lives += 1) {
      await operator.ended();
      operator.start();
    }
    await eventually(
      async () =>
        (await bench.client.find(installPlan.kind, { namespace: bench.namespace, name: "p" })) === undefined,
    );
    expect(await endState(bench)).toMatchObject({ objects: [] });
  });
});
