import { installPlan, type InstallPlan } from "@quartermaster/api";
import type { Client } from "@quartermaster/runtime";
import { eventually, makeIdentity } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { bystanderInstalls } from "../support/mallory.ts";
import { configMap } from "../support/manifests.ts";
import { enforceEditedPolicy, enforcePolicy } from "../support/policy.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

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
    await enforcePolicy(bench, "installplan-author.yaml");
    const { api, adminAccess, namespace } = bench;
    const author = await makeIdentity(api, adminAccess, { namespace, name: "author", rules: [makesPlans] });
    const client = bench.client.as({ user: author.user, groups: [group] });
    // A header carries bytes: the server reads them as UTF-8.
    const sent = Buffer.from(group, "latin1").toString("utf8");
    expect(await recordedFor(bench, client)).toEqual([sent, "system:authenticated"]);
  });

  test("[security/95] a group name with a newline gives its bearer no other group", async () => {
    await using bench = await setUpWorkbench();
    // No header carries a newline, but a certificate or a token of an identity provider does: here an annotation stands for it.
    const stand = "object.metadata.?annotations[?'tests/groups'].orValue('system:masters').split('|')";
    await enforceEditedPolicy(bench, "installplan-author.yaml", (text) =>
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
