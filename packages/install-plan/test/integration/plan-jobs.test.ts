import { planAnnotations } from "@quartermaster/api";
import { jobs, pods } from "@quartermaster/runtime/kinds";
import { aJob, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { endPods } from "../support/end-pods.ts";
import { configMap, job } from "../support/manifests.ts";
import { configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

function quickRetry(maxAttempts: number): { readonly retry: object } {
  return { retry: { initialSeconds: 1, maxSeconds: 2, maxAttempts } };
}

async function jobNames(bench: Workbench): Promise<readonly string[]> {
  const { items } = await bench.client.listPage(jobs, { namespace: bench.namespace });
  return items.map(({ metadata }) => metadata.name);
}

async function runningPods(bench: Workbench): Promise<number> {
  const { items } = await bench.client.listPage(pods, { namespace: bench.namespace });
  return items.filter(({ status }) => status?.phase === "Running").length;
}

async function exists(bench: Workbench, name: string): Promise<boolean> {
  return (await bench.client.find(configMaps, { namespace: bench.namespace, name })) !== undefined;
}

describe("jobs between stages", () => {
  test("[install-plan/51] the next stage begins after the job has completed, and the Job goes", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    await bench.create(
      bench.plan("p", [
        { name: "a", resources: [configMap("first")], jobs: [job("migrate")] },
        { name: "b", resources: [configMap("second")] },
      ]),
    );
    const { status } = await bench.installed("p");
    expect(status?.jobs).toMatchObject([{ stage: "a", name: "migrate", state: "Succeeded", attempt: 1 }]);
    const writes = await bench.writes(position);
    expect(writes.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      "patch configmaps",
      "create jobs",
      "delete jobs",
      "patch configmaps",
    ]);
  });

  test("[install-plan/52,60,125] a failed job stops the plan until a user requests another attempt; three Jobs stay", async () => {
    await using bench = await setUpWorkbench();
    const begin = await bench.audit.position();
    const stages = [
      { name: "a", resources: [configMap("first")], jobs: [job("migrate", "fail")] },
      { name: "b", resources: [configMap("second")] },
    ];
    await bench.create(bench.plan("p", stages, quickRetry(0)));
    const { status } = await bench.inPhase("p", "Failed");
    expect(conditionOf(status, "Stalled")).toMatchObject({ status: "True", reason: "JobFailed" });
    expect(status?.message).toContain("run qm plan retry");
    expect(await exists(bench, "first")).toBe(true);
    expect(await exists(bench, "second")).toBe(false);
    const position = await bench.audit.position();
    for (const attempt of [2, 3, 4, 5]) {
      await bench.patchPlan("p", { metadata: { annotations: { [planAnnotations.retry]: `${attempt}` } } });
      const after = await bench.until(
        "p",
        ({ phase, lastHandledRetry }) => phase === "Failed" && lastHandledRetry === `${attempt}`,
      );
      expect(after.status?.attempt).toBe(attempt);
    }
    await eventually(async () => (await jobNames(bench)).length === 3);
    const written = async (since: typeof position) =>
      (await bench.writes(since)).map(({ verb, resource }) => `${verb} ${resource}`);
    expect(new Set(await written(position))).toEqual(new Set(["create jobs", "delete jobs"]));
    expect((await written(begin)).filter((write) => write === "create jobs")).toHaveLength(5);
  });

  test("[install-plan/60] where maxAttempts allows it, the next attempt comes on its own and leaves what stands", async () => {
    await using bench = await setUpWorkbench();
    const stage = { name: "a", resources: [configMap("first")], jobs: [job("migrate", "fail")] };
    await bench.create(bench.plan("p", [stage], quickRetry(2)));
    await bench.until("p", ({ phase }) => phase === "Failed");
    const position = await bench.audit.position();
    const { status } = await bench.until("p", ({ attempt, phase }) => attempt === 2 && phase === "Failed");
    expect(status?.message).toContain("run qm plan retry");
    expect((await bench.writes(position)).map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      "create jobs",
    ]);
    expect(new Set(await jobNames(bench)).size).toBe(2);
  });

  test("[install-plan/53] a job may be tried several times, each under a name of its own", async () => {
    await using bench = await setUpWorkbench();
    const tries = job("flaky", "run", { attempts: 3, keep: "Always" });
    await bench.create(bench.plan("p", [{ name: "a", jobs: [tries] }]));
    for (const [index, phase] of ["Failed", "Failed", "Succeeded"].entries()) {
      await eventually(async () => (await jobNames(bench)).length === index + 1);
      await endPods(bench, phase);
    }
    const { status } = await bench.installed("p");
    expect(status?.jobs?.[0]).toMatchObject({ attempt: 3, state: "Succeeded" });
    expect(new Set(await jobNames(bench)).size).toBe(3);
  });

  test("[install-plan/54] a failure that the plan does not mind is shown and passed over", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(
      bench.plan("p", [
        { name: "a", jobs: [job("smoke", "fail", { onFailure: "Continue" })] },
        { name: "b", resources: [configMap("second")] },
      ]),
    );
    const { status } = await bench.installed("p");
    expect(status?.jobs?.[0]).toMatchObject({ state: "Failed" });
    expect(await exists(bench, "second")).toBe(true);
  });

  test.each([
    { keep: "OnFailure", left: 1 },
    { keep: "Never", left: 0 },
  ])(
    "[install-plan/55] a job that hangs is ended and the plan says JobTimeout; with keep: $keep Jobs left: $left",
    async ({ keep, left }) => {
      await using bench = await setUpWorkbench();
      await bench.create(
        bench.plan("p", [{ name: "a", jobs: [job("hang", "run", { timeoutSeconds: 2, keep })] }]),
      );
      const { status } = await bench.until("p", ({ phase }) => phase === "Failed");
      expect(conditionOf(status, "Stalled")?.reason).toBe("JobTimeout");
      await eventually(
        async () => (await runningPods(bench)) === 0 && (await jobNames(bench)).length === left,
      );
      const names = await jobNames(bench);
      const recorded = await bench.until("p", ({ jobs: records = [] }) =>
        names.length === 0 ? records[0]?.jobName === undefined : records[0]?.jobName === names[0],
      );
      expect(recorded.status?.jobs).toMatchObject([{ name: "hang", state: "TimedOut" }]);
    },
  );

  test("[first-use/4] pods that fail are shown while the job runs, and after its timeout the Job stays with them", async () => {
    await using bench = await setUpWorkbench();
    const template = { ...aJob({ name: "migrate", outcome: "fail" }).spec, backoffLimit: 6 };
    const jobsOfStage = [{ name: "migrate", timeoutSeconds: 6, template }];
    await bench.create(bench.plan("p", [{ name: "a", jobs: jobsOfStage }]));
    const running = await bench.until("p", ({ message = "" }) => message.includes("Pod p-a-migrate"));
    expect(running.status).toMatchObject({ phase: "RunningJobs", jobs: [{ state: "Running" }] });
    expect(running.status?.message).toMatch(
      /^Job migrate of stage a is running\. Pod p-a-migrate-\S+: container \S+ exited with code 1; check its logs\.$/,
    );
    const { status } = await bench.until("p", ({ phase }) => phase === "Failed");
    expect(conditionOf(status, "Stalled")?.reason).toBe("JobTimeout");
    const [record] = status?.jobs ?? [];
    expect(await jobNames(bench)).toEqual([record?.jobName]);
    const { items } = await bench.client.listPage(pods, { namespace: bench.namespace });
    expect(items.map((pod) => pod.status?.phase)).toContain("Failed");
  });

  test("[install-plan/56] an operator that starts again waits for the Job that runs", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const first = await bench.operate();
    await bench.create(bench.plan("p", [{ name: "a", jobs: [job("long", "run")] }]));
    await eventually(async () => (await jobNames(bench)).length === 1);
    await first.stop();
    await bench.operate();
    await bench.until("p", (status) => status.jobs?.[0]?.state === "Running");
    await endPods(bench, "Succeeded");
    await bench.installed("p");
    expect((await bench.read("p")).status?.jobs?.[0]).toMatchObject({ attempt: 1, state: "Succeeded" });
  });

  test("[install-plan/57,58] what the status remembers is not run again, neither after a restart nor by a repair", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const first = await bench.operate();
    await bench.create(bench.plan("p", [{ name: "a", resources: [configMap("c")], jobs: [job("once")] }]));
    await bench.installed("p");
    await eventually(async () => (await jobNames(bench)).length === 0);
    await first.stop();
    const position = await bench.audit.position();
    await bench.client.patch(
      configMaps,
      { namespace: bench.namespace, name: "c" },
      { patch: { kind: "merge", body: { data: { a: "x" } } }, fieldManager: "kubectl-edit" },
    );
    await bench.operate();
    await eventually(
      async () =>
        (await bench.client.get(configMaps, { namespace: bench.namespace, name: "c" })).data?.["a"] === "1",
    );
    await bench.installed("p");
    expect((await bench.writes(position)).map(({ resource }) => resource)).toEqual(["configmaps"]);
  });

  test("[install-plan/30] a job that the server would refuse keeps everything from being written", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    const containers = [{ name: "No Such Name", image: "nowhere.invalid/a:1" }];
    const template = { template: { spec: { restartPolicy: "Never", containers } } };
    await bench.create(
      bench.plan("p", [
        { name: "first", resources: [configMap("a")] },
        { name: "second", resources: [configMap("b")], jobs: [{ name: "bad", template }] },
      ]),
    );
    const { status } = await bench.inPhase("p", "Invalid");
    expect(conditionOf(status, "Validated")).toMatchObject({ status: "False", reason: "InvalidJob" });
    expect(status?.message).toContain(
      "stage second, jobs[bad].template.template.spec.containers[0].name: job bad of stage second was rejected",
    );
    expect(await bench.writes(position)).toEqual([]);
  });

  test("a job that runs when the plan is deleted goes before the objects that it works with", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [configMap("c")], jobs: [job("runs", "run")] }]),
    );
    await bench.until("p", ({ jobs: records }) => records?.[0]?.state === "Running");
    const position = await bench.audit.position();
    await bench.deletePlan("p");
    await eventually(async () => !(await exists(bench, "c")));
    // The audit log is a little behind; a delete that is repeated before its event arrives changes no order.
    const deleted = await eventually(async (see) => {
      const deletes = (await bench.writes(position)).filter(({ verb }) => verb === "delete");
      const resources = see([...new Set(deletes.map(({ resource }) => resource))]);
      return resources.includes("configmaps") ? resources : undefined;
    });
    expect(deleted).toEqual(["jobs", "configmaps"]);
  });
});
