import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { InstallPlan } from "@quartermaster/api";
import {
  conflict,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
  type SeenRequest,
  startFaultProxy,
  type TestNamespace,
} from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { planPath, readObject, writeStatus } from "../support/cluster.ts";
import { creating } from "../support/previews.ts";
import { type, type Output } from "../support/user.ts";

const cluster = joinSharedCluster();
const everything = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
const readsPlans = { apiGroups: ["install.quartermaster.dev"], resources: ["*"], verbs: ["get", "list"] };
let namespace: TestNamespace;
let directory: string;

beforeAll(async () => {
  namespace = await makeNamespace(cluster.api, "cli-approve");
  directory = await mkdtemp(join(tmpdir(), "qm-cli-"));
  await makeIdentity(cluster.api, cluster.admin, {
    namespace: namespace.name,
    name: "installer",
    rules: everything,
  });
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await namespace[Symbol.asyncDispose]();
  cluster[Symbol.dispose]();
});

async function qm(line: string, { kubeconfig = cluster.kubeconfigPath, input = "" } = {}): Promise<Output> {
  return await type([...line.split(" "), "-n", namespace.name], { env: { KUBECONFIG: kubeconfig }, input });
}

function aConfigMap(name: string): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
}

async function applyPlan(name: string, more = ""): Promise<void> {
  const input = JSON.stringify(aConfigMap(name));
  const output = await qm(`pack - --name ${name} --service-account installer --apply${more}`, { input });
  expect(output).toMatchObject({ code: 0 });
}

/** JSON is YAML. */
async function kubeconfigOf(access: { server: string; caPem: string; token: string }): Promise<string> {
  const { server, caPem, token } = access;
  const data = Buffer.from(caPem).toString("base64");
  const path = join(directory, `${token.slice(-12)}-${new URL(server).port}.json`);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "tests",
    clusters: [{ name: "tests", cluster: { server, "certificate-authority-data": data } }],
    users: [{ name: "tests", user: { token } }],
    contexts: [{ name: "tests", context: { cluster: "tests", user: "tests" } }],
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

describe("pack --apply", () => {
  test("withdraws a plan whose manifests cannot be stored", async () => {
    const resources = ["installplans"];
    const planner = await makeIdentity(cluster.api, cluster.admin, {
      namespace: namespace.name,
      rules: [{ apiGroups: ["install.quartermaster.dev"], resources, verbs: ["*"] }],
    });
    const input = JSON.stringify({ ...aConfigMap("large"), data: { text: "x".repeat(300_000) } });
    const kubeconfig = await kubeconfigOf(planner);
    const output = await qm("pack - --name withdrawn --apply", { kubeconfig, input });
    expect(output).toMatchObject({ code: 1, err: expect.stringContaining("resourcemanifests") as string });
    expect(await readObject(cluster, planPath(namespace.name, "withdrawn"))).toBeUndefined();
  });
});

describe("diff", () => {
  test("ends with one error for a user who may not act as the plan's account", async () => {
    await applyPlan("private");
    const user = await makeIdentity(cluster.api, cluster.admin, {
      namespace: namespace.name,
      name: "reader",
      rules: [readsPlans],
    });
    const { code, out, err } = await qm("plan diff private", { kubeconfig: await kubeconfigOf(user) });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe(
      `error: you are not allowed to impersonate service account ${namespace.name}/installer, which is required to check the plan; request the permission to impersonate it`,
    );
  });

  test("shows what a replacement would delete, and says so while that is not known", async () => {
    await applyPlan("old");
    await applyPlan("next", " --replaces old");
    const early = await qm("plan diff next");
    expect(early.code).toBe(3);
    expect(early.err).toContain("deletions are not known yet");
    const location = `/api/v1/namespaces/${namespace.name}/configmaps`;
    await cluster.api.apply(`${location}/leaving`, aConfigMap("leaving"));
    await cluster.api.apply(`${location}/next`, aConfigMap("next"));
    const deletion = (name: string, index: number): object => ({
      stage: "finishing",
      index,
      action: "delete",
      object: { apiVersion: "v1", kind: "ConfigMap", namespace: namespace.name, name },
    });
    const details = [deletion("leaving", 0), deletion("gone-already", 1)];
    const preview = { ...creating("d1", 1), delete: 3, details };
    await writeStatus(cluster, planPath(namespace.name, "next"), { preview });
    const { code, out, err } = await qm("plan diff next");
    expect(code).toBe(3);
    expect(out).toContain(`- ConfigMap ${namespace.name}/leaving  delete`);
    expect(out).not.toContain("gone-already");
    expect(err).toContain("the plan deletes 3 objects; its preview lists 2 of them");
    const finishedAt = "2026-01-01T00:00:00Z";
    await writeStatus(cluster, planPath(namespace.name, "next"), { finishedAt });
    expect((await qm("plan diff next")).out).not.toContain("leaving");
  });
});

describe("approve", () => {
  test("does not approve the preview of a plan that cannot be carried out", async () => {
    await applyPlan("faulty", " --manual");
    const status = { phase: "Invalid", message: "Something is wrong.", preview: creating("d1", 1) };
    await writeStatus(cluster, planPath(namespace.name, "faulty"), status);
    const { code, err } = await qm("plan approve faulty");
    expect(code).toBe(3);
    expect(err).toContain("the plan is Invalid: Something is wrong.");
    const plan = await readObject<InstallPlan>(cluster, planPath(namespace.name, "faulty"));
    expect(plan?.spec.approved).toBe(false);
  });

  test("tries again when the status changed meanwhile, as long as the preview is the same", async () => {
    await applyPlan("busy", " --manual");
    const path = planPath(namespace.name, "busy");
    await writeStatus(cluster, path, { phase: "AwaitingApproval", preview: creating("d1", 1) });
    await using proxy = await startFaultProxy({ upstream: cluster.admin });
    const kubeconfig = await kubeconfigOf({ ...proxy.access, token: cluster.admin.token });
    const isApproval = ({ resource, verb }: SeenRequest): boolean =>
      resource === "installplans" && verb === "patch";
    proxy.inject(isApproval, conflict(), 3);
    expect(await qm("plan approve busy", { kubeconfig })).toMatchObject({ code: 0, err: "" });
    const plan = await readObject<InstallPlan>(cluster, path);
    expect(plan?.spec).toMatchObject({ approved: true, approvedPreview: "d1" });
  });

  test("does not approve a preview that no one has looked at, however the conflict came about", async () => {
    await applyPlan("moving", " --manual");
    const path = planPath(namespace.name, "moving");
    await writeStatus(cluster, path, { phase: "AwaitingApproval", preview: creating("d1", 1) });
    await using proxy = await startFaultProxy({ upstream: cluster.admin });
    const kubeconfig = await kubeconfigOf({ ...proxy.access, token: cluster.admin.token });
    let changed: Promise<void> | undefined;
    const isApproval = ({ resource, verb }: SeenRequest): boolean => {
      const isPatch = resource === "installplans" && verb === "patch";
      if (isPatch) changed ??= writeStatus(cluster, path, { preview: creating("d2", 2) });
      return isPatch;
    };
    proxy.inject(isApproval, conflict(), 100);
    const { code, err } = await qm("plan approve moving", { kubeconfig });
    await changed;
    expect(code).toBe(3);
    expect(err).toContain("the preview has changed: its digest is d2");
    const plan = await readObject<InstallPlan>(cluster, path);
    expect(plan?.spec.approved).toBe(false);
  });
});
