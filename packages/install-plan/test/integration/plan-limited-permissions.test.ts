import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { widget, widgets } from "../support/definitions.ts";
import { clusterRoles, crds, deployments, namespaces } from "../support/kinds.ts";
import { isAllowed, letRead, optIn, setUpLimited } from "../support/limited-permissions.ts";
import { configMap, deployment, inline, job } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { allPermissions, configMaps, type Workbench } from "../support/workbench.ts";

const label = "install.quartermaster.dev/aggregate-to-operator";

async function isDeleted({ client, namespace }: Workbench, name: string): Promise<boolean> {
  return (await client.find(installPlan.kind, { namespace, name })) === undefined;
}

describe("an operator with the limited permissions", () => {
  test("may read no Secrets, enter no pods, and act as no one outside of namespaces that opted in", async () => {
    await using bench = await setUpLimited();
    await optIn(bench);
    const { namespace } = bench;
    const group = "rbac.authorization.k8s.io";
    const refused = [
      { verb: "get", resource: "pods", subresource: "exec", namespace },
      { verb: "create", resource: "pods", subresource: "exec", namespace },
      { verb: "get", resource: "pods", subresource: "attach", namespace },
      { verb: "get", resource: "pods", subresource: "portforward", namespace },
      { verb: "get", resource: "pods", subresource: "proxy", namespace },
      { verb: "get", resource: "pods", subresource: "log", namespace },
      { verb: "get", resource: "services", subresource: "proxy", namespace },
      { verb: "get", resource: "nodes", subresource: "proxy" },
      { verb: "create", resource: "serviceaccounts", subresource: "token", namespace },
      { verb: "get", resource: "secrets", namespace: "kube-system" },
      { verb: "list", resource: "secrets", namespace },
      { verb: "watch", resource: "secrets" },
      { verb: "impersonate", resource: "serviceaccounts", namespace: "kube-system", name: "default" },
      { verb: "impersonate", resource: "users", name: "admin" },
      { verb: "impersonate", resource: "groups", name: "system:masters" },
      { verb: "create", resource: "configmaps", namespace },
      { verb: "delete", resource: "configmaps", namespace },
      { verb: "escalate", resource: "clusterroles", group },
      { verb: "bind", resource: "clusterroles", group },
      { verb: "patch", resource: "clusterroles", group },
    ];
    const responses = await Promise.all(refused.map(async (each) => await isAllowed(bench, each)));
    expect(refused.filter((_, index) => responses[index])).toEqual([]);
    const own = { resource: "serviceaccounts", namespace, name: bench.account };
    expect(await isAllowed(bench, { verb: "impersonate", ...own })).toBe(true);
  });

  test("installs, runs jobs, repairs, hands over and deletes", async () => {
    await using bench = await setUpLimited();
    await optIn(bench);
    const { client, namespace } = bench;
    const resources = [configMap("c"), configMap("old"), deployment("web")];
    await bench.create(bench.plan("a", [{ name: "s", resources, jobs: [job("j")] }]));
    await bench.installed("a", 60_000);

    await client.delete(deployments, { namespace, name: "web" });
    await eventually(async () => (await client.find(deployments, { namespace, name: "web" })) !== undefined);

    const replaces = { replaces: { plans: [{ name: "a" }] } };
    await bench.create(
      bench.plan("b", [{ name: "s", resources: [configMap("c"), configMap("new")] }], replaces),
    );
    await bench.installed("b");
    await bench.inPhase("a", "Superseded");
    expect(await client.find(configMaps, { namespace, name: "old" })).toBeUndefined();

    await bench.deletePlan("b");
    await eventually(async () => await isDeleted(bench, "b"));
    const { items } = await client.listPage(configMaps, { namespace });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["kube-root-ca.crt"]);
  });

  test("[first-use/5] says that a namespace has not opted in, names its own account and the command, and continues when it was run", async () => {
    await using bench = await setUpLimited();
    const position = await bench.audit.position();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    const { status } = await bench.inPhase("p", "Forbidden");
    const authorized = conditionOf(status, "Authorized");
    expect(authorized).toMatchObject({ status: "False", reason: "NotOptedIn" });
    expect(authorized?.message).toBe(
      `The operator may not impersonate service account ${bench.account}; to let the operator run plans in this namespace, run kubectl create rolebinding quartermaster-plans --namespace ${bench.namespace} --clusterrole quartermaster-plans --serviceaccount ${bench.namespace}:operator.`,
    );
    expect(await bench.writes(position)).toEqual([]);
    await optIn(bench);
    await bench.installed("p", 60_000);
  });

  test("names a kind that it may not watch and the label that helps, and continues when the role is there", async () => {
    await using bench = await setUpLimited();
    await optIn(bench);
    const definition = widgets(`hidden.${bench.namespace}.example`);
    bench.use(removing(bench.client, crds, { name: definition.name }));
    await bench.client.create(crds, definition.object);
    const position = await bench.audit.position();
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [configMap("c"), inline(widget(definition, "w"))] }]),
    );
    const { status } = await bench.until("p", ({ message = "" }) => message.includes("may not watch"));
    expect(status?.phase).toBe("Forbidden");
    expect(status?.message).toContain(`widgets.${definition.group};`);
    expect(status?.message).toContain(label);
    expect(conditionOf(status, "Authorized")).toMatchObject({ status: "False", reason: "KindNotReadable" });
    expect(await bench.writes(position)).toEqual([]);
    await letRead(bench, definition.group, "widgets");
    await bench.installed("p", 60_000);
  });

  test("does not begin a plan whose own definitions bring a kind that it may not watch", async () => {
    await using bench = await setUpLimited({ clusterRules: [allPermissions] });
    await optIn(bench);
    const definition = widgets(`brought.${bench.namespace}.example`);
    bench.use(removing(bench.client, crds, { name: definition.name }));
    const position = await bench.audit.position();
    const stages = [
      { name: "definitions", resources: [inline(definition.object)] },
      { name: "objects", resources: [inline(widget(definition, "w"))] },
    ];
    await bench.create(bench.plan("p", stages, { scope: "Cluster" }));
    const { status } = await bench.until("p", ({ message = "" }) => message.includes("may not watch"));
    expect(status?.phase).toBe("Forbidden");
    expect(await bench.writes(position)).toEqual([]);
    await letRead(bench, definition.group, "widgets");
    await bench.installed("p", 60_000);
  });

  test("does not take for gone what it may no longer see: a plan under deletion waits until it can look", async () => {
    await using bench = await setUpLimited({ isOperating: false });
    await optIn(bench);
    const definition = widgets(`revoked.${bench.namespace}.example`);
    bench.use(removing(bench.client, crds, { name: definition.name }));
    await bench.client.create(crds, definition.object);
    await letRead(bench, definition.group, "widgets");
    const manager = await bench.operate();
    await bench.create(bench.plan("p", [{ name: "s", resources: [inline(widget(definition, "w"))] }]));
    await bench.installed("p");
    await manager[Symbol.asyncDispose]();
    await bench.client.delete(clusterRoles, { name: `${bench.namespace}-widgets` });
    const permission = { verb: "watch", resource: "widgets", group: definition.group };
    await eventually(async () => !(await isAllowed(bench, permission)));
    await bench.operate();
    const { status } = await bench.until("p", ({ message = "" }) => message.includes("may not watch"));
    expect(status?.phase).toBe("Degraded");
    await bench.deletePlan("p");
    const blocked = await bench.until("p", ({ phase }) => phase === "Deleting");
    const condition = conditionOf(blocked.status, "DeletionBlocked");
    expect(condition?.status).toBe("True");
    expect(condition?.message).toContain(label);
    await letRead(bench, definition.group, "widgets");
    await eventually(async () => await isDeleted(bench, "p"), { withinMs: 60_000 });
    const ref = { namespace: bench.namespace, name: "w" };
    expect(await bench.client.find(definition.kind, ref)).toBeUndefined();
  });

  test("keeps a namespace of a plan in which it cannot see whether others have Secrets", async () => {
    await using bench = await setUpLimited({ clusterRules: [allPermissions] });
    await optIn(bench);
    const name = `${bench.namespace}-home`;
    bench.use(removing(bench.client, namespaces, { name }));
    const home = inline({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await bench.create(bench.plan("p", [{ name: "s", resources: [home] }], { scope: "Cluster" }));
    await bench.installed("p");
    await bench.deletePlan("p");
    await eventually(async () => await isDeleted(bench, "p"));
    const reported = await eventually(async () => {
      const events = await bench.events("p");
      return events.find(({ reason }) => reason === "Protected");
    });
    expect(reported.note).toContain("may not list secrets");
    const kept = await bench.client.get(namespaces, { name });
    expect(kept.metadata.deletionTimestamp).toBeUndefined();
  });
});
