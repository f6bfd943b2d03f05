import { installPlan, resourceManifest } from "@quartermaster/api";
import { classify, type Client, type Kind } from "@quartermaster/runtime";
import { aConfigMap, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { bystanderInstalls, letMalloryIn } from "../support/mallory.ts";
import { configMap, job } from "../support/manifests.ts";
import { enforcePolicy } from "../support/policy.ts";
import { store } from "../support/stored.ts";
import { allPermissions, configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const before = "2026-01-01T00:00:00Z";

interface Forgery {
  readonly client: Client;
  readonly kind?: Kind;
  readonly status: object;
  readonly dryRun?: boolean;
}

async function forge(
  { namespace }: Workbench,
  name: string,
  { client, kind = installPlan.kind, status, dryRun = false }: Forgery,
): Promise<void> {
  const patch = { kind: "merge" as const, body: { status } };
  await client.patch(kind, { namespace, name }, { patch, subresource: "status", dryRun });
}

/** The refusal, once the server enforces the policy. */
async function refusalOf(attempt: () => Promise<unknown>): Promise<string> {
  return await eventually(async () => {
    try {
      await attempt();
    } catch (error) {
      return classify(error) === "forbidden" && error instanceof Error ? error.message : undefined;
    }
    return undefined;
  });
}

describe("who writes the status", () => {
  test("[security/94] an administrator of the namespace cannot write the status of our kinds", async () => {
    await using bench = await setUpWorkbench();
    await enforcePolicy(bench, "status.yaml");
    const { client } = await letMalloryIn(bench, { rules: [allPermissions] });
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }], { approval: "Manual" }));
    await bench.inPhase("p", "AwaitingApproval");
    const status = { startedAt: before, finishedAt: before };
    const refusal = await refusalOf(async () => await forge(bench, "p", { client, status, dryRun: true }));
    expect(refusal).toContain("may not write the status of installplans");
    await expect(forge(bench, "p", { client, status })).rejects.toMatchObject({ class: "forbidden" });
    const { metadata } = await store(bench, aConfigMap({ name: "stored" }));
    await expect(
      forge(bench, metadata.name, { client, kind: resourceManifest.kind, status: { conditions: [] } }),
    ).rejects.toMatchObject({ class: "forbidden" });
    await bystanderInstalls(bench);
    expect((await bench.read("p")).status?.startedAt).toBeUndefined();
  });
});

describe("what a status is believed without the policy", () => {
  test("[security/94] a forged status neither approves a plan nor runs its jobs in name", async () => {
    await using bench = await setUpWorkbench();
    const stage = { name: "s", resources: [configMap("c")], jobs: [job("migrate", "run")] };
    await bench.create(bench.plan("p", [stage], { approval: "Manual" }));
    const { status: honest } = await bench.inPhase("p", "AwaitingApproval");
    const { namespace } = bench;
    const client = bench.client;
    const record = honest?.jobs?.[0];
    const jobs = [{ ...record, state: "Succeeded", startedAt: before, finishedAt: before }];
    for (const [index, ends] of [{}, { finishedAt: before }].entries()) {
      await forge(bench, "p", {
        client,
        status: { startedAt: before, stage: "s", attempt: 1, jobs, ...ends },
      });
      await bench.patchPlan("p", { spec: { historyLimit: 10 + index } });
      await bench.until(
        "p",
        ({ startedAt, finishedAt }) => startedAt === undefined && finishedAt === undefined,
      );
    }
    await bystanderInstalls(bench);
    expect(await bench.client.find(configMaps, { namespace, name: "c" })).toBeUndefined();
    expect((await bench.read("p")).status?.phase).toBe("AwaitingApproval");
    // Succeeded for the status of a plan that has not started: the job runs all the same.
    await forge(bench, "p", { client, status: { jobs } });
    await bench.patchPlan("p", { spec: { approved: true } });
    const { status } = await bench.inPhase("p", "RunningJobs");
    expect(status?.jobs?.[0]?.state).not.toBe("Succeeded");
    // Nor is a Job that runs believed to have succeeded.
    await bench.until("p", (now) => now.jobs?.[0]?.state === "Running");
    await forge(bench, "p", { client, status: { jobs } });
    await bench.patchPlan("p", { spec: { historyLimit: 12 } });
    await bench.until("p", (now) => now.jobs?.[0]?.state === "Running");
  });
});
