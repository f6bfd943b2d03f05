import { installPlan } from "@quartermaster/api";
import { makeNamespace } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { coreRule, grant, rbacRule } from "../support/grants.ts";
import { configMaps, serviceAccounts } from "../support/kinds.ts";
import { configMap, gated, inline } from "../support/manifests.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const allOfConfigMaps = coreRule("configmaps", "create", "get", "patch", "delete");

function role(rules: readonly object[]): object {
  const metadata = { name: "reader" };
  return { manifest: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata, rules } };
}

const readsConfigMaps = { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] };
const readsSecrets = { apiGroups: [""], resources: ["secrets"], verbs: ["get"] };

describe("permissions that are compared before the first write", () => {
  test("[install-plan/40] the one permission that is missing is reported, and nothing is written", async () => {
    const rules = [allOfConfigMaps, rbacRule("roles", "get", "patch", "delete")];
    await using bench = await setUpWorkbench({ rules });
    const position = await bench.audit.position();
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [configMap("c"), role([readsConfigMaps])] }]),
    );
    const { status } = await bench.inPhase("p", "Forbidden");
    expect(status?.permissions?.missing).toEqual([
      { verb: "create", group: "rbac.authorization.k8s.io", resource: "roles", namespace: bench.namespace },
    ]);
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/41] seven missing permissions in three namespaces are reported together", async () => {
    await using bench = await setUpWorkbench({ rules: [coreRule("configmaps", "get", "delete")] });
    await using second = await makeNamespace(bench.api, "second");
    await using third = await makeNamespace(bench.api, "third");
    await grant(
      bench,
      [coreRule("secrets", "get", "patch", "delete"), coreRule("services", "create", "get")],
      second.name,
    );
    await grant(
      bench,
      [
        coreRule("configmaps", "create", "get", "patch"),
        coreRule("serviceaccounts", "create", "patch", "delete"),
      ],
      third.name,
    );
    const object = (kind: string, namespace: string) =>
      inline({ apiVersion: "v1", kind, metadata: { name: "o", namespace } });
    const resources = [
      object("ConfigMap", bench.namespace),
      object("Secret", second.name),
      inline({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "o", namespace: second.name },
        spec: { ports: [{ port: 80 }] },
      }),
      object("ConfigMap", third.name),
      object("ServiceAccount", third.name),
    ];
    const position = await bench.audit.position();
    await bench.create(bench.plan("p", [{ name: "s", resources }], { scope: "Cluster" }));
    const { status } = await bench.inPhase("p", "Forbidden");
    const reported = status?.permissions?.missing?.map(({ verb, resource, namespace }) => [
      namespace,
      resource,
      verb,
    ]);
    expect(reported).toEqual([
      [bench.namespace, "configmaps", "create"],
      [bench.namespace, "configmaps", "patch"],
      [second.name, "secrets", "create"],
      [second.name, "services", "delete"],
      [second.name, "services", "patch"],
      [third.name, "configmaps", "delete"],
      [third.name, "serviceaccounts", "get"],
    ]);
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/42] a permission that is granted later lets the plan continue within 5 s", async () => {
    await using bench = await setUpWorkbench({ rules: [coreRule("configmaps", "get")] });
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.inPhase("p", "Forbidden");
    await grant(bench, [allOfConfigMaps]);
    const { metadata } = await bench.installed("p", 5_000);
    expect(metadata.generation).toBe(1);
  });

  test("[install-plan/43] a Role that gives more than the account holds is forbidden before any write", async () => {
    const rules = [allOfConfigMaps, rbacRule("roles", "create", "get", "patch", "delete")];
    await using bench = await setUpWorkbench({ rules });
    const position = await bench.audit.position();
    const resources = [configMap("c"), role([readsConfigMaps, readsSecrets])];
    await bench.create(bench.plan("p", [{ name: "s", resources }]));
    const { status } = await bench.inPhase("p", "Forbidden");
    expect(status?.permissions?.missing).toEqual([
      { verb: "get", group: "", resource: "secrets", namespace: bench.namespace },
    ]);
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/44] a binding to a role that the account may not bind is forbidden before any write", async () => {
    const rules = [allOfConfigMaps, rbacRule("rolebindings", "create", "get", "patch", "delete")];
    await using bench = await setUpWorkbench({ rules });
    const position = await bench.audit.position();
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "editors" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: bench.namespace }],
    };
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c"), inline(binding)] }]));
    const { status } = await bench.inPhase("p", "Forbidden");
    expect(status?.permissions?.missing?.length).toBeGreaterThan(0);
    expect(await bench.writes(position)).toEqual([]);
    await grant(bench, [{ ...rbacRule("clusterroles", "bind"), resourceNames: ["edit"] }]);
    await bench.installed("p");
  });

  test("[install-plan/45] a permission to delete that clean-up will need is requested before the first write", async () => {
    await using bench = await setUpWorkbench({ rules: [coreRule("configmaps", "create", "get", "patch")] });
    const position = await bench.audit.position();
    await bench.create(bench.plan("deleting", [{ name: "s", resources: [configMap("c")] }]));
    const { status } = await bench.inPhase("deleting", "Forbidden");
    expect(status?.permissions?.missing).toEqual([
      { verb: "delete", group: "", resource: "configmaps", namespace: bench.namespace },
    ]);
    expect(await bench.writes(position)).toEqual([]);
    const lifecycle = { cleanup: "Orphan" };
    await bench.create(
      bench.plan("leaving", [{ name: "s", resources: [configMap("c")] }], { lifecycle: lifecycle }),
    );
    await bench.installed("leaving");
  });

  test("[install-plan/47] an account that does not exist stops the plan until it does", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    const plan = bench.plan("p", [{ name: "s", resources: [configMap("c")] }], {
      serviceAccountName: "nobody",
    });
    await bench.create(plan);
    const { status } = await bench.inPhase("p", "Forbidden");
    expect(conditionOf(status, "Stalled")?.reason).toBe("ServiceAccountMissing");
    expect(await bench.writes(position)).toEqual([]);
    await bench.client.create(serviceAccounts, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "nobody", namespace: bench.namespace },
    });
    await bench.until("p", ({ permissions }) => permissions?.missing !== undefined);
  });
});

describe("permissions while a plan is carried out", () => {
  test("[install-plan/46] a permission that is revoked fails the stage that needs it, and the plan resumes", async () => {
    await using bench = await setUpWorkbench({ rules: [] });
    const secret = inline({ apiVersion: "v1", kind: "Secret", metadata: { name: "late" } });
    const allOfSecrets = coreRule("secrets", "create", "get", "patch", "delete");
    await grant(bench, [allOfConfigMaps, allOfSecrets]);
    const stages = [
      { name: "a", resources: [gated("gate")] },
      { name: "b", resources: [secret] },
    ];
    await bench.create(bench.plan("p", stages, { retry: { initialSeconds: 1, maxSeconds: 1 } }));
    await bench.until("p", ({ states }) => states?.[0] === "P");
    await grant(bench, [allOfConfigMaps]);
    await bench.openGate("gate");
    const { status } = await bench.inPhase("p", "Failed");
    expect(conditionOf(status, "Stalled")?.reason).toBe("Forbidden");
    expect(status?.stage).toBe("b");
    const kept = await bench.client.find(configMaps, { namespace: bench.namespace, name: "gate" });
    expect(kept).toBeDefined();
    await grant(bench, [allOfConfigMaps, allOfSecrets]);
    await bench.installed("p");
  });

  test("[install-plan/49] every write is made as the account, and the operator writes plans alone", async () => {
    await using bench = await setUpWorkbench();
    const position = await bench.audit.position();
    const stages = [
      {
        name: "a",
        resources: [configMap("a"), inline({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" } })],
      },
      { name: "b", resources: [configMap("b")] },
    ];
    await bench.create(bench.plan("p", stages));
    await bench.installed("p");
    const entries = await bench.audit.since(position, { user: bench.operator });
    const writes = entries.filter(({ verb }) => ["create", "update", "patch", "delete"].includes(verb));
    const account = `system:serviceaccount:${bench.namespace}:${bench.account}`;
    const asAccount = writes.filter(({ impersonatedUser }) => impersonatedUser === account);
    const asItself = writes.filter(({ impersonatedUser }) => impersonatedUser === undefined);
    expect(asAccount.filter(({ path }) => !path.includes("dryRun")).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["a", "s", "b"]),
    );
    expect(asAccount.length + asItself.length).toBe(writes.length);
    const own = new Set(asItself.map(({ resource }) => resource));
    expect(
      [...own].filter((resource) => !["installplans", "resourcemanifests", "events"].includes(resource)),
    ).toEqual([]);
  });
});

describe("which account a plan can name", () => {
  test.each([
    { name: "another namespace before a slash", serviceAccountName: "kube-system/default" },
    { name: "a path", serviceAccountName: "../kube-system/default" },
    { name: "a namespace before a colon", serviceAccountName: "kube-system:default" },
    { name: "a full user name", serviceAccountName: "system:serviceaccount:kube-system:default" },
    { name: "an escaped slash", serviceAccountName: "kube-system%2fdefault" },
  ])("[install-plan/50] [security/2] $name is no account", async ({ serviceAccountName }) => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const plan = bench.plan("p", [{ name: "s", resources: [configMap("c")] }], { serviceAccountName });
    await expect(bench.create(plan)).rejects.toMatchObject({ class: "invalid" });
  });

  test.each(["serviceAccountNamespace", "serviceAccountRef"])(
    "[security/3] a field %s does not exist",
    async (field) => {
      await using bench = await setUpWorkbench({ isOperating: false });
      const plan = bench.plan("p", [{ name: "s", resources: [configMap("c")] }], {
        [field]: "kube-system",
      });
      await expect(bench.create(plan)).rejects.toThrow(`unknown field "spec.${field}"`);
      await expect(bench.client.find(installPlan.kind, plan.metadata)).resolves.toBeUndefined();
    },
  );
});
