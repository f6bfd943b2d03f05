import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

import type { InstallPlan } from "@quartermaster/api";
import {
  eventually,
  hatchCanary,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
  type TestNamespace,
} from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { planPath, readObject, writeStatus } from "../support/cluster.ts";
import { creating } from "../support/previews.ts";
import { type, type UserOptions, type Output } from "../support/user.ts";

const cluster = joinSharedCluster();
let namespace: TestNamespace;

beforeAll(async () => {
  namespace = await makeNamespace(cluster.api, "cli-plans");
  const rules = [{ apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["*"] }];
  await makeIdentity(cluster.api, cluster.admin, { namespace: namespace.name, name: "installer", rules });
});

afterAll(async () => {
  await namespace[Symbol.asyncDispose]();
  cluster[Symbol.dispose]();
});

async function qm(line: string, options: UserOptions = {}): Promise<Output> {
  const env = { KUBECONFIG: cluster.kubeconfigPath };
  return await type([...line.split(" "), "-n", namespace.name], { env, ...options });
}

async function applyPlan(name: string, documents: readonly object[], more = ""): Promise<Output> {
  const input = documents.map((document) => JSON.stringify(document)).join("\n---\n");
  return await qm(`pack - --name ${name} --service-account installer --apply${more}`, { input });
}

function manifestsPath(): string {
  return `/apis/install.quartermaster.dev/v1alpha1/namespaces/${namespace.name}/resourcemanifests`;
}

async function manifestNames(): Promise<readonly string[]> {
  const list = await readObject<{ items: readonly InstallPlan[] }>(cluster, manifestsPath());
  return (list?.items ?? []).map(({ metadata }) => metadata.name);
}

function aConfigMap(name: string, data: Readonly<Record<string, string>> = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

const condition = (kind: string, status: string): object => ({
  type: kind,
  status,
  reason: "Settled",
  message: "Everything is as declared.",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

describe("pack --apply", () => {
  test("a large set becomes manifests that are stored and shared by the next plan", async () => {
    const large = [1, 2, 3].map((index) =>
      aConfigMap(`large-${index}`, { text: `${index}`.repeat(300_000) }),
    );
    expect(await applyPlan("large-1", large)).toMatchObject({ code: 0, err: "" });
    expect(await applyPlan("large-2", large, " --replaces large-1")).toMatchObject({ code: 0, err: "" });
    const list = await readObject<{ items: readonly object[] }>(
      cluster,
      `/apis/install.quartermaster.dev/v1alpha1/namespaces/${namespace.name}/resourcemanifests`,
    );
    expect(list?.items).toHaveLength(3);
  });

  test("a plan of the same name is not overwritten", async () => {
    await applyPlan("once", [aConfigMap("a")]);
    const { code, err } = await applyPlan("once", [aConfigMap("b")]);
    expect(code).toBe(1);
    expect(err).toContain("choose another --name and add --replaces once");
  });

  test("what the server refuses is reported with its field", async () => {
    const tooMany = Array.from({ length: 51 }, (_, index) => ` --replaces p${index}`).join("");
    const { code, err } = await applyPlan("refused", [aConfigMap("a")], tooMany);
    expect(code).toBe(1);
    expect(err).toContain("spec.replaces.plans");
  });

  test("a namespace and a predecessor that do not exist are reported before anything is made", async () => {
    await applyPlan("shop-1", [aConfigMap("a")]);
    const typo = await applyPlan("shop-2", [aConfigMap("a")], " --replaces shop1");
    expect(typo).toMatchObject({
      code: 4,
      err: expect.stringContaining("--replaces shop1: InstallPlan") as string,
    });
    expect(typo.err).toMatch(/does not exist; plans in the namespace: .*shop-1/);
    expect(await readObject(cluster, planPath(namespace.name, "shop-2"))).toBeUndefined();
    const env = { KUBECONFIG: cluster.kubeconfigPath };
    const input = JSON.stringify(aConfigMap("a"));
    const lost = await type("pack - --name p --apply -n nowhere".split(" "), { env, input });
    expect(lost).toEqual({
      code: 4,
      out: "",
      err: "error: namespace nowhere does not exist; create it with kubectl create namespace nowhere, or choose another one with --namespace",
    });
  });

  test("of a plan that the server refuses, and of one that is there, nothing is left behind", async () => {
    const tooMany = Array.from({ length: 51 }, (_, index) => ` --replaces p${index}`).join("");
    const large = (letter: string): object => aConfigMap("large", { text: letter.repeat(300_000) });
    await applyPlan("there", [aConfigMap("a")]);
    const before = await manifestNames();
    expect((await applyPlan("refused", [large("r")], tooMany)).code).toBe(1);
    expect((await applyPlan("there", [large("s")])).code).toBe(1);
    expect(await manifestNames()).toEqual(before);
  });

  test("a Secret that is kept apart goes with its manifest", async () => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "b" } };
    for (const name of ["apart-1", "apart-2"])
      expect(await applyPlan(name, [secret], " --secrets secretRef")).toMatchObject({ code: 0, err: "" });
    const plan = await readObject<InstallPlan>(cluster, planPath(namespace.name, "apart-1"));
    const name = plan?.spec.stages[0]?.resources?.[0]?.manifestRef?.name ?? "";
    const manifest = await readObject<InstallPlan>(cluster, `${manifestsPath()}/${name}`);
    const stored = await readObject<InstallPlan>(
      cluster,
      `/api/v1/namespaces/${namespace.name}/secrets/${name}`,
    );
    expect(stored?.metadata.ownerReferences).toMatchObject([{ name, uid: manifest?.metadata.uid }]);
  });

  test("a plan that never became valid leaves neither manifest nor Secret behind", async () => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "t" }, stringData: { a: "c" } };
    const before = await manifestNames();
    await applyPlan("hopeless", [secret], " --secrets secretRef");
    const [name = ""] = (await manifestNames()).filter((each) => !before.includes(each));
    const manifest = await readObject<InstallPlan>(cluster, `${manifestsPath()}/${name}`);
    expect(manifest?.metadata.ownerReferences).toMatchObject([{ kind: "InstallPlan", name: "hopeless" }]);
    await cluster.api.send({ method: "DELETE", path: planPath(namespace.name, "hopeless") });
    const locations = [`${manifestsPath()}/${name}`, `/api/v1/namespaces/${namespace.name}/secrets/${name}`];
    // The garbage collector needs up to half a minute to know a new kind.
    for (const path of locations)
      await eventually(async () => (await readObject(cluster, path)) === undefined, { withinMs: 90_000 });
  });

  test("programs get the plan that was made, and nothing else", async () => {
    const { code, out } = await applyPlan("told", [aConfigMap("a")], " -o json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ kind: "InstallPlan", metadata: { name: "told" } });
  });
});

describe("diff", () => {
  test("tells what would change, by path, and no value of a Secret", async () => {
    const [old, fresh] = [hatchCanary(), hatchCanary()];
    const aSecret = (canary: { readonly value: string }): object => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "keys" },
      data: { password: Buffer.from(canary.value).toString("base64") },
    });
    const location = `/api/v1/namespaces/${namespace.name}`;
    await cluster.api.apply(`${location}/configmaps/same`, aConfigMap("same", { a: "1" }));
    await cluster.api.apply(`${location}/configmaps/other`, aConfigMap("other", { a: "1" }));
    await cluster.api.apply(`${location}/secrets/keys`, aSecret(old));
    await applyPlan("differs", [
      aConfigMap("same", { a: "1" }),
      aConfigMap("other", { a: "2" }),
      aConfigMap("new"),
      aSecret(fresh),
      { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } },
      { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" } },
    ]);
    const { code, out } = await qm("plan diff differs -o json");
    const diffs = JSON.parse(out) as readonly {
      object: { kind: string; name: string };
      action: string;
      changes: readonly object[];
    }[];
    expect(code).toBe(3);
    expect(diffs.map(({ object, action }) => `${object.kind} ${object.name} ${action}`)).toEqual([
      "ConfigMap same none",
      "ConfigMap other update",
      "ConfigMap new create",
      "Secret keys update",
      "Deployment d refused",
      "Widget w deferred",
    ]);
    expect(diffs[1]?.changes).toEqual([{ path: "/data/a", before: '"1"', after: '"2"' }]);
    expect(diffs[1]).toMatchObject({ message: expect.stringContaining("not created by a plan") as string });
    expect(diffs[3]?.changes).toMatchObject([{ path: "/data/password" }]);
    for (const { value } of [old, fresh]) {
      expect(out).not.toContain(value);
      expect(out).not.toContain(Buffer.from(value).toString("base64"));
    }
    expect(await readObject(cluster, `${location}/configmaps/new`)).toBeUndefined();
  });

  test("does not take the plan's own marks or fields left to others for differences", async () => {
    await applyPlan("marked", [aConfigMap("marked", { a: "1", tuned: "1" })]);
    const plan = await readObject<InstallPlan>(cluster, planPath(namespace.name, "marked"));
    const spec = { ...plan?.spec, lifecycle: { ...plan?.spec.lifecycle, ignorePaths: ["/data/tuned"] } };
    const path = planPath(namespace.name, "left");
    await cluster.api.apply(path, {
      apiVersion: plan?.apiVersion,
      kind: plan?.kind,
      metadata: { name: "left" },
      spec,
    });
    const ownerLabels = {
      labels: { "install.quartermaster.dev/plan-id": "abc" },
      annotations: { "install.quartermaster.dev/owner": "{}" },
    };
    const live = {
      ...aConfigMap("marked", { a: "1", tuned: "2" }),
      metadata: { name: "marked", ...ownerLabels },
    };
    await cluster.api.apply(`/api/v1/namespaces/${namespace.name}/configmaps/marked`, live);
    expect((await qm("plan diff left")).out).toBe("0 to change, 1 unchanged");
    expect((await qm("plan diff marked")).out).toContain("/data/tuned");
  });

  test("does not take objects of a namespace that the plan makes for refused", async () => {
    const name = `${namespace.name}-new`;
    const inside = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "inside", namespace: name } };
    const home = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    const clusterRules = [{ apiGroups: [""], resources: ["configmaps", "namespaces"], verbs: ["*"] }];
    await makeIdentity(cluster.api, cluster.admin, { namespace: namespace.name, name: "wide", clusterRules });
    const input = [home, inside].map((document) => JSON.stringify(document)).join("\n---\n");
    await qm("pack - --name homely --service-account wide --apply", { input });
    expect((await qm("plan diff homely")).out.split("\n")).toEqual([
      `+ Namespace ${name}  create`,
      `? ConfigMap ${name}/inside  deferred`,
      "2 to change, 0 unchanged",
    ]);
  });

  test("ends with 0 when nothing differs", async () => {
    await cluster.api.apply(
      `/api/v1/namespaces/${namespace.name}/configmaps/equal`,
      aConfigMap("equal", { a: "1" }),
    );
    await applyPlan("equal", [aConfigMap("equal", { a: "1" })]);
    expect(await qm("plan diff equal")).toMatchObject({ code: 0, out: "0 to change, 1 unchanged" });
  });

  test("says which manifest is missing", async () => {
    const [large] = [aConfigMap("lost", { text: "x".repeat(300_000) })];
    await applyPlan("lost", [large]);
    const path = `/apis/install.quartermaster.dev/v1alpha1/namespaces/${namespace.name}/resourcemanifests`;
    const plan = await readObject<{
      spec: { stages: readonly { resources: readonly { manifestRef: { name: string } }[] }[] };
    }>(cluster, planPath(namespace.name, "lost"));
    const name = plan?.spec.stages[0]?.resources[0]?.manifestRef.name ?? "";
    await cluster.api.send({ method: "DELETE", path: `${path}/${name}` });
    const { code, err } = await qm("plan diff lost");
    expect(code).toBe(1);
    expect(err).toContain(
      `ResourceManifest ${namespace.name}/${name} does not exist; run qm pack --apply again`,
    );
  });
});

describe("status", () => {
  test("ends with 4 for a plan that is not there", async () => {
    const { code, err } = await qm("plan status missing");
    expect(code).toBe(4);
    expect(err).toContain(`InstallPlan missing not found in namespace ${namespace.name}`);
  });

  test("watches until the plan is ready", async () => {
    await applyPlan("watched", [aConfigMap("a")]);
    const path = planPath(namespace.name, "watched");
    const steps = [
      { phase: "Applying", states: ["P"] },
      { phase: "Installed", states: ["R"], observedGeneration: 1, conditions: [condition("Ready", "True")] },
    ];
    let step = 0;
    const onSleep = async (): Promise<void> => {
      await writeStatus(cluster, path, steps[step] ?? {});
      step += 1;
    };
    const { code, out } = await qm("plan status watched --watch", { onSleep });
    expect(code).toBe(0);
    expect(out.split("\n").filter((line) => line.startsWith("InstallPlan"))).toEqual(
      ["not observed yet", "Applying", "Installed"].map(
        (phase) => `InstallPlan ${namespace.name}/watched  ${phase}`,
      ),
    );
    const ready = await qm("plan status watched --watch -o json", { onSleep });
    expect(JSON.parse(ready.out)).toMatchObject({ phase: "Installed" });
  });

  test("gives programs one document when the time is over", async () => {
    await applyPlan("late", [aConfigMap("a")]);
    const { code, out } = await qm("plan status late --watch --timeout 1 -o yaml");
    expect({ code, out }).toEqual({ code: 3, out: "{}" });
  });
});

describe("a watch", () => {
  test.each(["Invalid", "Failed"])("ends with 3 when the plan is %s", async (phase) => {
    const name = phase.toLowerCase();
    await applyPlan(name, [aConfigMap("a")]);
    const message = "Something is wrong.";
    const onSleep = async (): Promise<void> => {
      await writeStatus(cluster, planPath(namespace.name, name), { phase, message, observedGeneration: 1 });
    };
    const { code, out } = await qm(`plan status ${name} --watch`, { onSleep });
    expect({ code, out }).toEqual({
      code: 3,
      out: expect.stringContaining(`${phase}\n  ${message}`) as string,
    });
  });

  test("ends with 3 when its time is over", async () => {
    await applyPlan("slow", [aConfigMap("a")]);
    expect((await qm("plan status slow --watch --timeout 0")).code).toBe(3);
  });
});

describe("approve", () => {
  const preview = creating("d1", 1);

  test("refuses a plan that needs none", async () => {
    await applyPlan("automatic", [aConfigMap("a")]);
    expect(await qm("plan approve automatic")).toMatchObject({
      code: 1,
      err: expect.stringContaining("does not require approval") as string,
    });
  });

  test("waits for a preview and refuses another one", async () => {
    await applyPlan("manual", [aConfigMap("a")], " --manual");
    expect((await qm("plan approve manual")).code).toBe(3);
    await writeStatus(cluster, planPath(namespace.name, "manual"), { preview });
    const other = await qm("plan approve manual --preview d0");
    expect(other).toMatchObject({ code: 3, err: expect.stringContaining("its digest is d1") as string });
    expect((await qm("plan approve manual --preview d1")).code).toBe(0);
    const plan = await readObject<{ spec: object }>(cluster, planPath(namespace.name, "manual"));
    expect(plan?.spec).toMatchObject({ approved: true, approvedPreview: "d1" });
  });
});

describe("rollback", () => {
  test.each([
    {
      phase: "Invalid",
      message: "No such kind.",
      code: 3,
      says: /, but it is Invalid: No such kind\.\nrun qm plan explain/,
    },
    {
      phase: "Applying",
      message: "Applies.",
      code: 0,
      says: /; it replaces applying-2 and is Applying; run qm plan status/,
    },
  ])("tells that the new plan is $phase", async ({ phase, message, code, says }) => {
    const [first, second] = [`${phase.toLowerCase()}-1`, `${phase.toLowerCase()}-2`];
    await applyPlan(first, [aConfigMap("a")]);
    await applyPlan(second, [aConfigMap("b")], ` --replaces ${first}`);
    const onSleep = async (): Promise<void> => {
      await writeStatus(cluster, planPath(namespace.name, `${first}-again`), {
        phase,
        message,
        observedGeneration: 1,
      });
    };
    const output = await qm(`plan rollback ${second}`, { onSleep });
    expect(output).toEqual({ code, err: "", out: expect.stringMatching(says) as string });
    expect(output.out).toContain(
      `created InstallPlan ${namespace.name}/${first}-again with the content of ${first}`,
    );
  });

  test("tells that no operator has looked at the new plan", async () => {
    await applyPlan("alone-1", [aConfigMap("a")]);
    await applyPlan("alone-2", [aConfigMap("b")], " --replaces alone-1");
    expect(await qm("plan rollback alone-2 --timeout 0")).toMatchObject({
      code: 3,
      out: expect.stringContaining("it is not observed yet\nalone-2 is not replaced yet") as string,
    });
  });

  test("refuses a plan that was replaced, and a name that is taken", async () => {
    await applyPlan("first", [aConfigMap("a")]);
    await applyPlan("second", [aConfigMap("b")], " --replaces first");
    expect(await qm("plan rollback second --name first")).toMatchObject({
      code: 1,
      err: expect.stringContaining("exists; choose another name with --name") as string,
    });
    const replacedBy = { name: "third", uid: "u", state: "Done" };
    await writeStatus(cluster, planPath(namespace.name, "second"), { replacedBy });
    expect(await qm("plan rollback second")).toMatchObject({
      code: 1,
      err: "error: InstallPlan second is already replaced by third; roll back third instead",
    });
    expect(await readObject(cluster, planPath(namespace.name, "first-again"))).toBeUndefined();
  });
});

test("the program itself runs, without colours in a pipe", async () => {
  await applyPlan("piped", [aConfigMap("a")]);
  await writeStatus(cluster, planPath(namespace.name, "piped"), {
    phase: "Installed",
    states: ["R"],
    observedGeneration: 1,
    conditions: [condition("Ready", "True")],
  });
  const main = new URL("../../src/main.ts", import.meta.url).pathname;
  const location = ["-n", namespace.name, "--kubeconfig", cluster.kubeconfigPath];
  const child = spawn(process.execPath, [main, "plan", "status", "piped", ...location]);
  const [out, code] = await Promise.all([
    text(child.stdout),
    new Promise<number | null>((resolve) => {
      child.once("close", resolve);
    }),
  ]);
  expect(code).toBe(0);
  expect(out).toBe(`InstallPlan ${namespace.name}/piped  Installed\n  config  1/1 ready\n`);
});

test("plans are listed with phase and what they replace, of one namespace or of all", async () => {
  await using own = await makeNamespace(cluster.api, "cli-list");
  const env = { KUBECONFIG: cluster.kubeconfigPath };
  const list = async (...flags: readonly string[]): Promise<Output> =>
    await type(["plan", "list", ...flags], { env });
  expect((await list("-n", own.name)).out).toBe("no plans found");
  const stages = [{ name: "only", resources: [{ manifest: aConfigMap("listed") }] }];
  for (const [name, more] of [
    ["web-1", {}],
    ["web-2", { replaces: { plans: [{ name: "web-1" }] } }],
  ] as const) {
    const spec = { serviceAccountName: "installer", stages, ...more };
    const body = {
      apiVersion: "install.quartermaster.dev/v1alpha1",
      kind: "InstallPlan",
      metadata: { name },
      spec,
    };
    const path = planPath(own.name, name).replace(`/${name}`, "");
    expect((await cluster.api.send({ method: "POST", path, body })).status).toBe(201);
  }
  await writeStatus(cluster, planPath(own.name, "web-1"), { phase: "Installed" });
  const { code, out } = await list("-n", own.name);
  expect(code).toBe(0);
  expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["NAME", "PHASE", "READY", "REPLACES", "MESSAGE"],
    ["web-1", "Installed", "no"],
    ["web-2", "not observed yet", "no", "web-1"],
  ]);
  expect((await list("-A")).out).toMatch(new RegExp(`^NAMESPACE [^]*^${own.name} +web-2 `, "m"));
  expect(JSON.parse((await list("-n", own.name, "-o", "json")).out)).toMatchObject([
    { name: "web-1" },
    { replaces: ["web-1"] },
  ]);
});
