import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { installPlan } from "@quartermaster/api";
import { createManager, Discovery, realSystem } from "@quartermaster/runtime";
import { jobs, pods } from "@quartermaster/runtime/kinds";
import {
  connect,
  eventually,
  isWritePoint,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
  type RequestMatch,
  startFaultProxy,
  startOperator,
} from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { installPlanControllers } from "../../src/index.ts";
import { conditionOf } from "../support/conditions.ts";
import { namespaces, webhookConfigurations } from "../support/kinds.ts";
import { configMap, job } from "../support/manifests.ts";
import { operatorRules } from "../support/operator-rules.ts";
import { aPlan } from "../support/plans.ts";
import { registerWebhook } from "../support/webhook.ts";
import { allPermissions, configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

interface JobFate {
  readonly fate: string;
  readonly given: object;
  readonly meet?: (bench: Workbench) => Promise<void>;
  /** Reason of Stalled, and words of the message; undefined where the job is run again and succeeds. */
  readonly want?: { readonly reason: string; readonly text: RegExp };
}

async function untilRunning(bench: Workbench): Promise<string> {
  return await eventually(async () => {
    const { items } = await bench.client.listPage(pods, { namespace: bench.namespace });
    return items.find(({ status }) => status?.phase === "Running")?.metadata.name;
  });
}

const fates: readonly JobFate[] = [
  { fate: "fails", given: job("migrate", "fail"), want: { reason: "JobFailed", text: /migrate/ } },
  {
    fate: "hangs",
    given: job("migrate", "run", { timeoutSeconds: 2 }),
    want: { reason: "JobTimeout", text: /migrate/ },
  },
  {
    fate: "is evicted",
    given: job("migrate", "run"),
    meet: async (bench) => {
      const name = await untilRunning(bench);
      const status = { phase: "Failed", reason: "Evicted", message: "The node was low on memory." };
      await bench.client.patch(
        pods,
        { namespace: bench.namespace, name },
        { subresource: "status", patch: { kind: "merge", body: { status } } },
      );
    },
    want: { reason: "JobFailed", text: /migrate/ },
  },
  {
    fate: "vanishes",
    given: job("migrate", "run"),
    meet: async (bench) => {
      await untilRunning(bench);
      const { items } = await bench.client.listPage(jobs, { namespace: bench.namespace });
      const [first] = items;
      if (first === undefined) throw new Error("no job");
      await bench.client.delete(jobs, first.metadata, { propagation: "Background" });
      await eventually(async () => {
        const again = await bench.client.find(jobs, first.metadata);
        return again !== undefined && again.metadata.uid !== first.metadata.uid;
      });
    },
  },
];

describe("a stage and its job", () => {
  test.each(fates)(
    "[faults/22] a job that $fate: a precise reason, and no next stage",
    async ({ given, meet, want }) => {
      await using bench = await setUpWorkbench();
      await bench.create(
        bench.plan("p", [
          { name: "a", resources: [configMap("first")], jobs: [given] },
          { name: "b", resources: [configMap("second")] },
        ]),
      );
      await meet?.(bench);
      const isThere = async (name: string): Promise<boolean> =>
        (await bench.client.find(configMaps, { namespace: bench.namespace, name })) !== undefined;
      const { status } = await bench.until(
        "p",
        ({ phase }) => phase === (want === undefined ? "RunningJobs" : "Failed"),
      );
      expect(conditionOf(status, "Stalled")).toMatchObject(
        want === undefined ? { status: "False" } : { status: "True", reason: want.reason },
      );
      expect(status?.message).toMatch(want?.text ?? /migrate/);
      expect(await isThere("first")).toBe(true);
      expect(await isThere("second")).toBe(false);
    },
  );
});

describe("a webhook of another client", () => {
  test("[faults/24] that hangs at one write holds up no other object and no other plan", async () => {
    await using bench = await setUpWorkbench();
    await using webhook = await registerWebhook(bench, async ({ name, dryRun }) => {
      if (name === "stuck" && !dryRun) await realSystem().sleep(20_000);
      return { kind: "allow" };
    });
    await webhook.listen();
    const resources = ["before", "stuck", "after"].map((name) => configMap(name));
    await bench.create(bench.plan("p", [{ name: "s", concurrency: 2, resources }]));
    await eventually(
      async (see) => {
        see((await bench.read("p")).status);
        return (
          (await bench.client.find(configMaps, { namespace: bench.namespace, name: "before" })) !== undefined
        );
      },
      { withinMs: 20_000 },
    );
    await bench.create(bench.plan("q", [{ name: "s", resources: [configMap("other")] }]));
    await bench.installed("q");
    await eventually(
      async () =>
        (await bench.client.find(configMaps, { namespace: bench.namespace, name: "after" })) !== undefined,
    );
    const { status } = await bench.read("p");
    expect(status?.phase).not.toBe("Failed");
    expect(
      await bench.client.find(configMaps, { namespace: bench.namespace, name: "stuck" }),
    ).toBeUndefined();
    await bench.client.delete(webhookConfigurations, { name: bench.namespace });
    await bench.installed("p");
  });

  test("[faults/E9] that refuses an object with 422 is named, and the plan continues without it", async () => {
    await using bench = await setUpWorkbench();
    await using webhook = await registerWebhook(bench, ({ name }) =>
      name === "bad"
        ? { kind: "deny", code: 422, reason: "Invalid", message: "no bad things" }
        : { kind: "allow" },
    );
    await webhook.listen();
    const position = await bench.audit.position();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("good"), configMap("bad")] }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain("no bad things");
    expect(await bench.writes(position)).toEqual([]);
    await bench.client.delete(webhookConfigurations, { name: bench.namespace });
    await bench.installed("p");
  });
});

const isWriteTo =
  (resource: string, subresource?: string): RequestMatch =>
  (request) =>
    isWritePoint(request) && request.resource === resource && request.subresource === subresource;

describe("a namespace in deletion", () => {
  test.each([
    { point: "the finalizer", match: isWriteTo("installplans") },
    { point: "a status", match: isWriteTo("installplans", "status") },
    { point: "an object", match: isWriteTo("configmaps") },
    { point: "a job", match: isWriteTo("jobs") },
  ])("[faults/47,I6] that was deleted at the write of $point is deleted within 60 s", async ({ match }) => {
    using cluster = joinSharedCluster();
    await using operators = await makeNamespace(cluster.api, "operators");
    await using tenant = await makeNamespace(cluster.api, "tenant");
    const namespace = tenant.name;
    await makeIdentity(cluster.api, cluster.admin, { namespace, name: "installer", rules: [allPermissions] });
    const operator = await makeIdentity(cluster.api, cluster.admin, {
      namespace: operators.name,
      clusterRules: await operatorRules(),
    });
    await using proxy = await startFaultProxy({ upstream: operator });
    await using link = connect({ ...proxy.access, token: operator.token });
    await using admin = connect(cluster.admin);
    const { transport } = link;
    const system = realSystem();
    const controllers = installPlanControllers({
      system,
      discovery: new Discovery(transport, system),
      namespace,
    });
    await using manager = createManager({ transport, system, controllers });
    manager.start();
    const { struck } = proxy.inject(match, {
      kind: "interleave",
      act: async () => {
        await admin.client.delete(namespaces, { name: namespace });
      },
    });
    const { apiVersion, kind } = aPlan("p");
    const stages = [
      { name: "a", resources: [configMap("c")], jobs: [job("migrate", "run")] },
      { name: "b", resources: [configMap("d")] },
    ];
    const plan = {
      apiVersion,
      kind,
      metadata: { name: "p", namespace },
      spec: { serviceAccountName: "installer", stages },
    };
    await admin.client.create(installPlan.kind, plan as never);
    await struck;
    await eventually(async () => (await admin.client.find(namespaces, { name: namespace })) === undefined, {
      withinMs: 60_000,
    });
  });
});

/** A directory of its own file system without a free byte. */
async function mountFullDisk(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "full-disk-"));
  execFileSync("mount", ["--no-mtab", "-t", "tmpfs", "-o", "size=64k", "tmpfs", path]);
  await expect(writeFile(join(path, "filler"), Buffer.alloc(1_000_000))).rejects.toThrow("ENOSPC");
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      execFileSync("umount", ["--no-mtab", path]);
      await rm(path, { recursive: true });
    },
  };
}

test.runIf(process.getuid?.() === 0)(
  "[faults/19] an operator whose temporary disk is full works as before",
  async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await using disk = await mountFullDisk();
    await using operator = await startOperator(bench.operatorAccess, ["--watch-namespace", bench.namespace], {
      env: { TMPDIR: disk.path, NODE_COMPILE_CACHE: disk.path, HOME: disk.path },
    });
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [configMap("c")], jobs: [job("migrate", "complete")] }]),
    );
    await bench.installed("p");
    expect(operator.exitCode).toBeUndefined();
    expect(operator.output).not.toContain("ENOSPC");
  },
);
