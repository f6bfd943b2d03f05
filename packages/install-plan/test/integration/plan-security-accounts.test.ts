import { installPlan } from "@quartermaster/api";
import { eventually, makeIdentity, makeNamespace, connect } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { isUserAllowed } from "../support/access-review.ts";
import { conditionOf } from "../support/conditions.ts";
import { coreRule } from "../support/grants.ts";
import { configMaps, roles, serviceAccounts } from "../support/kinds.ts";
import { bystanderInstalls } from "../support/mallory.ts";
import { configMap, gated, inline } from "../support/manifests.ts";
import { enforcePolicy } from "../support/policy.ts";
import { allPermissions, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const makesPlans = {
  apiGroups: ["install.quartermaster.dev"],
  resources: ["installplans"],
  verbs: ["create", "get", "patch", "delete"],
};
const allOfConfigMaps = coreRule("configmaps", "create", "get", "patch", "delete");

/** An account that may do everything everywhere. */
async function makeStrongAccount({ api, adminAccess, namespace }: Workbench): Promise<void> {
  await makeIdentity(api, adminAccess, { namespace, name: "strong", clusterRules: [allPermissions] });
}

/** The refusal, once the server enforces the policy: its caches follow the binding briefly. */
async function refusalOf(attempt: () => Promise<unknown>): Promise<Error> {
  return await eventually(async () => {
    try {
      await attempt();
    } catch (error) {
      return error instanceof Error && error.message.includes("impersonate") ? error : undefined;
    }
    return undefined;
  });
}

describe("who may make plans for which account", () => {
  test("[install-plan/48] [security/1] the permission to make plans is no permission to use a strong account", async () => {
    await using bench = await setUpWorkbench();
    await makeStrongAccount(bench);
    await enforcePolicy(bench, "installplan-service-account.yaml");
    const { api, adminAccess, namespace } = bench;
    const author = await makeIdentity(api, adminAccess, { namespace, name: "author", rules: [makesPlans] });
    await using link = connect(author);
    const plan = bench.plan("p", [{ name: "s", resources: [configMap("c")] }], {
      serviceAccountName: "strong",
    });
    const refusal = await refusalOf(
      async () => await link.client.create(installPlan.kind, plan, { dryRun: true }),
    );
    expect(refusal.message).toContain(`${author.user} may not impersonate service account strong`);
    const position = await bench.audit.position();
    await expect(link.client.create(installPlan.kind, plan)).rejects.toMatchObject({ class: "forbidden" });
    const writes = await bench.audit.since(position, { namespace, verbs: ["create", "patch", "update"] });
    expect(writes.filter(({ code }) => code < 300)).toEqual([]);
  });

  test("[install-plan/48] who may act as the account may make the plan, and no one else may change it", async () => {
    await using bench = await setUpWorkbench();
    await enforcePolicy(bench, "installplan-service-account.yaml");
    const { api, adminAccess, namespace, account } = bench;
    const impersonates = { ...coreRule("serviceaccounts", "impersonate"), resourceNames: [account] };
    const author = await makeIdentity(api, adminAccess, {
      namespace,
      name: "author",
      rules: [makesPlans, impersonates],
    });
    const other = await makeIdentity(api, adminAccess, { namespace, name: "other", rules: [makesPlans] });
    await using authorLink = connect(author);
    await using otherLink = connect(other);
    const plan = bench.plan("p", [{ name: "s", resources: [configMap("c")] }]);
    await authorLink.client.create(installPlan.kind, plan);
    await bench.installed("p");
    const refusal = await refusalOf(
      async () =>
        await otherLink.client.patch(installPlan.kind, plan.metadata, {
          patch: { kind: "merge", body: { spec: { historyLimit: 1 } } },
          dryRun: true,
        }),
    );
    expect(refusal.message).toContain("may not impersonate");
    const body = { metadata: { labels: { team: "a" } } };
    await otherLink.client.patch(installPlan.kind, plan.metadata, { patch: { kind: "merge", body } });
  });

  test("[security/8] a plan inside a plan is made by the outer account and judged by its permissions", async () => {
    await using bench = await setUpWorkbench({ rules: [allOfConfigMaps, makesPlans] });
    await makeStrongAccount(bench);
    await enforcePolicy(bench, "installplan-service-account.yaml");
    const inner = bench.plan("inner", [{ name: "s", resources: [configMap("c")] }], {
      serviceAccountName: "strong",
    });
    const outer = bench.client.as({ user: `system:serviceaccount:${bench.namespace}:${bench.account}` });
    await refusalOf(async () => await outer.create(installPlan.kind, inner, { dryRun: true }));
    const position = await bench.audit.position();
    await bench.create(bench.plan("outer", [{ name: "s", resources: [configMap("before"), inline(inner)] }]));
    const { status } = await bench.inPhase("outer", "Invalid");
    expect(status?.message).toContain("may not impersonate service account strong");
    expect(await bench.writes(position)).toEqual([]);
    await expect(bench.client.find(installPlan.kind, inner.metadata)).resolves.toBeUndefined();
  });
});

describe("an account is the one that it was", () => {
  test("[security/4] an account that was made again under its name is not trusted", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }], { approval: "Manual" }));
    await bench.inPhase("p", "AwaitingApproval");
    const ref = { namespace: bench.namespace, name: bench.account };
    const position = await bench.audit.position();
    await bench.client.delete(serviceAccounts, ref);
    await bench.client.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: ref });
    await bench.patchPlan("p", { spec: { approved: true } });
    const { status } = await bench.until(
      "p",
      (now) =>
        conditionOf(now, "Stalled")?.reason === "ServiceAccountReplaced" && now.observedGeneration === 2,
    );
    expect(status?.phase).toBe("Forbidden");
    expect(await bench.writes(position)).toEqual([]);
  });
});

describe("clean-up acts as the account that was vouched for", () => {
  test("[security/101] nothing is deleted as an account that was created again under its name", async () => {
    await using bench = await setUpWorkbench();
    const { namespace, account, client } = bench;
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("p");
    const ref = { namespace, name: account };
    const pinned = (await bench.read("p")).status?.serviceAccountUid;
    await client.delete(serviceAccounts, ref);
    await client.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: ref });
    await bench.until("p", (now) => conditionOf(now, "Authorized")?.reason === "ServiceAccountReplaced");
    const position = await bench.audit.position();
    await bench.deletePlan("p");
    const { status } = await bench.until(
      "p",
      (now) => conditionOf(now, "Stalled")?.reason === "ServiceAccountReplaced" && now.phase === "Deleting",
    );
    await bystanderInstalls(bench);
    expect(conditionOf(status, "DeletionBlocked")?.message).toContain("deletion.ifUnauthorized: Orphan");
    expect(status?.serviceAccountUid).toBe(pinned);
    expect((await bench.writes(position)).filter(({ verb }) => verb === "delete")).toEqual([]);
    // What is left goes by hand, and then the plan.
    await client.delete(configMaps, { namespace, name: "c" });
    await eventually(
      async () => (await client.find(installPlan.kind, { namespace, name: "p" })) === undefined,
    );
  });
});

describe("the author of a plan has to keep the permission to its account", () => {
  test("[security/5] an author who may no longer act as the account stops the plan before its next write", async () => {
    await using bench = await setUpWorkbench();
    await enforcePolicy(bench, "installplan-author.yaml");
    await enforcePolicy(bench, "installplan-author-record.yaml");
    const { api, adminAccess, namespace, account } = bench;
    const impersonates = { ...coreRule("serviceaccounts", "impersonate"), resourceNames: [account] };
    const author = await makeIdentity(api, adminAccess, {
      namespace,
      name: "author",
      rules: [makesPlans, impersonates],
    });
    await using link = connect(author);
    const stages = [
      { name: "a", resources: [gated("gate")] },
      { name: "b", resources: [configMap("late")] },
    ];
    const forged = { "install.quartermaster.dev/author": "somebody-else" };
    const plan = bench.plan("p", stages);
    const owned = { ...plan, metadata: { ...plan.metadata, annotations: forged } };
    const noted = await eventually(async () => {
      const { metadata } = await link.client.create(installPlan.kind, owned, { dryRun: true });
      return metadata.annotations?.["install.quartermaster.dev/author"] === author.user;
    });
    expect(noted).toBe(true);
    await link.client.create(installPlan.kind, owned);
    await bench.until("p", ({ states }) => states?.[0] === "P");
    await setRules(bench, "author", [makesPlans]);
    await eventually(async () => !(await mayImpersonate(bench, author.user)));
    const position = await bench.audit.position();
    await bench.openGate("gate");
    const { status } = await bench.inPhase("p", "Forbidden");
    expect(conditionOf(status, "Stalled")?.reason).toBe("AuthorizationLost");
    expect(status?.message).toContain(author.user);
    expect(await bench.writes(position)).toEqual([]);
    await setRules(bench, "author", [makesPlans, impersonates]);
    await bench.installed("p");
  });

  test("[security/5] who made a plan cannot be changed", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await enforcePolicy(bench, "installplan-author.yaml");
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    const body = { metadata: { annotations: { "install.quartermaster.dev/author": "somebody-else" } } };
    await eventually(async () => {
      try {
        await bench.client.patch(
          installPlan.kind,
          { namespace: bench.namespace, name: "p" },
          {
            patch: { kind: "merge", body },
            dryRun: true,
          },
        );
      } catch (error) {
        return error instanceof Error && error.message.includes("who made a plan cannot be changed");
      }
      return false;
    });
    await expect(bench.patchPlan("p", body)).rejects.toMatchObject({ class: "forbidden" });
  });
});

async function setRules(bench: Workbench, role: string, rules: readonly object[]): Promise<void> {
  const ref = { namespace: bench.namespace, name: role };
  await bench.client.patch(roles, ref, { patch: { kind: "merge", body: { rules } } });
}

async function mayImpersonate({ client, namespace, account }: Workbench, user: string): Promise<boolean> {
  const attributes = { verb: "impersonate", resource: "serviceaccounts", namespace, name: account };
  return await isUserAllowed(client, user, attributes);
}

describe("what an account cannot do, a plan cannot do", () => {
  const group = "rbac.authorization.k8s.io";
  test.each([
    { name: "may read", verbs: ["get"], want: { verb: "*", group: "*", resource: "*" } },
    {
      name: "may not read",
      verbs: ["delete"],
      want: { verb: "bind", group, resource: "clusterroles", name: "cluster-admin" },
    },
  ])(
    "[security/6] a binding to cluster-admin, which the account $name, is refused before anything of the plan is written",
    async ({ verbs, want }) => {
      const bindings = {
        apiGroups: ["rbac.authorization.k8s.io"],
        resources: ["clusterrolebindings"],
        verbs: ["*"],
      };
      const clusterRoles = { apiGroups: [group], resources: ["clusterroles"], verbs };
      await using bench = await setUpWorkbench({
        rules: [allOfConfigMaps],
        clusterRules: [bindings, clusterRoles],
      });
      const name = `${bench.namespace}-owner`;
      const binding = {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ kind: "ServiceAccount", name: bench.account, namespace: bench.namespace }],
      };
      const position = await bench.audit.position();
      const resources = [configMap("before"), inline(binding)];
      await bench.create(bench.plan("p", [{ name: "s", resources }], { scope: "Cluster" }));
      const { status } = await bench.inPhase("p", "Forbidden");
      expect(status?.permissions?.missing).toContainEqual(want);
      expect(await bench.writes(position)).toEqual([]);
    },
  );

  test("[security/10] an object in the namespace of another tenant is named as what is missing", async () => {
    await using bench = await setUpWorkbench({ rules: [allOfConfigMaps] });
    await using tenant = await makeNamespace(bench.api, "tenant");
    const position = await bench.audit.position();
    const foreign = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: tenant.name } };
    const resources = [configMap("own"), inline(foreign)];
    await bench.create(bench.plan("p", [{ name: "s", resources }], { scope: "Cluster" }));
    const { status } = await bench.inPhase("p", "Forbidden");
    expect(status?.message).toContain(`create configmaps in ${tenant.name}`);
    expect(await bench.writes(position)).toEqual([]);
    expect(await bench.client.find(configMaps, foreign.metadata)).toBeUndefined();
  });
});
