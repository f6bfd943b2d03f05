import { installPlan, type InstallPlan } from "@quartermaster/api";
import type { Client } from "@quartermaster/runtime";
import { eventually, makeIdentity } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { coreRule } from "../support/grants.ts";
import { bystanderInstalls, letMalloryIn } from "../support/mallory.ts";
import { configMap } from "../support/manifests.ts";
import { enforceEditedPolicy, enforcePolicy } from "../support/policy.ts";
import { configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const authorAnnotation = "install.quartermaster.dev/author";
const groupsAnnotation = "install.quartermaster.dev/author-groups";

const makesPlans = {
  apiGroups: ["install.quartermaster.dev"],
  resources: ["installplans"],
  verbs: ["create", "get"],
};

/** What the server records for a plan that this client creates, once the policy is in force. */
async function recordedFor(bench: Workbench, client: Client, plan = aPlanOf(bench)): Promise<unknown> {
  const text = await eventually(async () => {
    const { metadata } = await client.create(installPlan.kind, plan, { dryRun: true });
    return metadata.annotations?.[groupsAnnotation];
  });
  return JSON.parse(text);
}

function aPlanOf(bench: Workbench, annotations: Readonly<Record<string, string>> = {}): InstallPlan {
  const plan = bench.plan("p", [{ name: "s", resources: [configMap("c")] }]);
  return { ...plan, metadata: { ...plan.metadata, annotations } };
}

describe("the groups of an author", () => {
  test.each([
    { name: "quotes, commas and brackets", group: '"],["system:masters","' },
    { name: "backslashes", group: String.raw`\",\"system:masters\\n` },
    { name: "a tab and text beyond ASCII", group: "one\ttwo \u00e9" },
  ])("[security/95] a group name with $name is recorded as one group", async ({ group }) => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await enforcePolicy(bench, "installplan-author-record.yaml");
    const { api, adminAccess, namespace } = bench;
    const author = await makeIdentity(api, adminAccess, { namespace, name: "author", rules: [makesPlans] });
    // A header carries bytes: the server reads them as UTF-8.
    const bytes = Buffer.from(group, "utf8").toString("latin1");
    const client = bench.client.as({ user: author.user, groups: [bytes] });
    expect(await recordedFor(bench, client)).toEqual([group, "system:authenticated"]);
  });

  test("[security/95] a group name with a newline gives its bearer no other group", async () => {
    await using bench = await setUpWorkbench();
    // No header carries a newline, but a certificate or a token of an identity provider does: here an annotation stands for it.
    const stand = "object.metadata.?annotations[?'tests/groups'].orValue('system:masters').split('|')";
    await enforceEditedPolicy(bench, "installplan-author-record.yaml", (text) =>
      text.replaceAll("request.userInfo.groups", stand),
    );
    const { api, adminAccess, namespace } = bench;
    const author = await makeIdentity(api, adminAccess, { namespace, name: "author", rules: [makesPlans] });
    const client = bench.client.as({ user: author.user });
    const groups = ["x\nsystem:masters", 'a"b', "c\\", "d\r\t"];
    const plan = aPlanOf(bench, { "tests/groups": groups.join("|") });
    const text = await eventually(async () => {
      const { metadata } = await client.create(installPlan.kind, plan, { dryRun: true });
      return metadata.annotations?.[groupsAnnotation];
    });
    await client.create(installPlan.kind, plan);
    const { status } = await bench.inPhase("p", "Forbidden");
    expect(conditionOf(status, "Stalled")?.reason).toBe("AuthorizationLost");
    expect(JSON.parse(text)).toEqual(groups);
    await bystanderInstalls(bench);
  });
});

describe("a plan with a mistake in it", () => {
  test.each([
    {
      name: "replaces as a string",
      spec: { replaces: "petshop-1" },
      says: /spec\.replaces: Invalid value: "string"/,
    },
    { name: "stages as a string", spec: { stages: "web" }, says: /spec\.stages: Invalid value: "string"/ },
    {
      name: "a misspelled approval",
      spec: { approval: "Manuell" },
      says: /spec\.approval: Unsupported value/,
    },
  ])("[first-use/6] $name gets the error of the schema, not a denial", async ({ spec, says }) => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await enforcePolicy(bench, "installplan-author-record.yaml");
    await recordedFor(bench, bench.client);
    const { apiVersion, kind, metadata, spec: sound } = aPlanOf(bench);
    const created = bench.client.raw({
      method: "POST",
      path: `/apis/${apiVersion}/namespaces/${bench.namespace}/installplans`,
      body: { apiVersion, kind, metadata, spec: { ...sound, ...spec } },
    });
    await expect(created).rejects.toMatchObject({ class: "invalid" });
    await expect(created).rejects.toThrow(says);
    await expect(created).rejects.not.toThrow(/quartermaster-installplan-author|denied/);
  });

  test("[first-use/6] metadata without annotations is recorded all the same", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await enforcePolicy(bench, "installplan-author-record.yaml");
    const plan = bench.plan("p", [{ name: "s", resources: [configMap("c")] }]);
    expect(plan.metadata.annotations).toBeUndefined();
    expect(await recordedFor(bench, bench.client, plan)).toContain("system:authenticated");
  });
});

describe("plans without a recorded author", () => {
  test("[security/95] the operator reports AuthorUnknown and installs the plan (default)", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(aPlanOf(bench));
    const { status } = await bench.installed("p");
    expect(conditionOf(status, "Authorized")).toMatchObject({ status: "True", reason: "AuthorUnknown" });
  });

  test("[security/95] with --require-author nothing is done for them, installed or not", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const { namespace } = bench;
    const first = await bench.operate();
    await bench.create(bench.plan("before", [{ name: "s", resources: [configMap("before")] }]));
    await bench.installed("before");
    await first[Symbol.asyncDispose]();
    await bench.operate({ requireAuthor: true });
    const position = await bench.audit.position();
    await bench.create(aPlanOf(bench));
    const { status } = await bench.inPhase("p", "Forbidden");
    expect(conditionOf(status, "Stalled")?.reason).toBe("AuthorUnknown");
    expect(status?.message).toContain("config/policy");
    await bench.client.delete(configMaps, { namespace, name: "before" });
    await bench.until("before", ({ states }) => states?.[0] === "M");
    await enforcePolicy(bench, "installplan-author-record.yaml");
    await recordedFor(bench, bench.client, bench.plan("tried", [{ name: "s", resources: [configMap("t")] }]));
    expect(await bench.writes(position)).toEqual([]);
    await bystanderInstalls(bench);
    expect((await bench.writes(position)).map(({ name }) => name)).toEqual(["bystander"]);
  });

  test("[security/95] without the recording policy, authors name themselves and no one else", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await enforcePolicy(bench, "installplan-author.yaml");
    await bench.operate({ requireAuthor: true });
    const mallory = await letMalloryIn(bench, { accountRules: [coreRule("configmaps", "*")] });
    const groups = JSON.stringify([
      "system:serviceaccounts",
      `system:serviceaccounts:${bench.namespace}`,
      "system:authenticated",
    ]);
    const named = (annotations: Readonly<Record<string, string>>): InstallPlan => {
      const plan = mallory.plan("p", [{ name: "s", resources: [configMap("c")] }]);
      return { ...plan, metadata: { ...plan.metadata, annotations } };
    };
    const forgeries = [
      { [authorAnnotation]: "system:admin" },
      { [authorAnnotation]: mallory.user, [groupsAnnotation]: '["system:masters"]' },
      { [groupsAnnotation]: groups.replace("[", '["system:masters",') },
    ];
    for (const forged of forgeries)
      await eventually(async () => {
        try {
          await mallory.client.create(installPlan.kind, named(forged), { dryRun: true });
        } catch (error) {
          return error instanceof Error && error.message.includes("cannot name another author");
        }
        return false;
      });
    await mallory.create(named({ [authorAnnotation]: mallory.user, [groupsAnnotation]: groups }));
    const { status } = await bench.installed("p");
    expect(conditionOf(status, "Authorized")?.reason).toBe("Authorized");
    const body = { metadata: { annotations: { [groupsAnnotation]: '["system:masters"]' } } };
    await expect(bench.patchPlan("p", body)).rejects.toMatchObject({ class: "forbidden" });
  });
});
