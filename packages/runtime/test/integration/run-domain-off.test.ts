import { join } from "node:path";

import { eventually, joinSharedCluster, makeIdentity, makeNamespace } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { defineController } from "../../src/controller/define-controller.ts";
import { eventKind } from "../../src/events/event-object.ts";
import type { Kind } from "../../src/object/kind.ts";
import type { Domain } from "../../src/run/domain.ts";
import { connect } from "../support/connect.ts";
import { configMaps } from "../support/kinds.ts";
import { Replica, saveAccess } from "../support/operator-replica.ts";
import { makeTempDirectory } from "../support/temp-directory.ts";
import { serveWidgets, widgetKind } from "../support/widgets.ts";

/** Writes down the names of the objects that it works on. */
function notingDomain(name: string, kind: Kind, seen: string[]): Domain {
  return {
    name,
    permissions: [],
    grantedBy: `config/${name}.yaml`,
    controllers: ({ namespace = "" }) => [
      defineController(kind, {
        namespace,
        writesStatus: false,
        reconcile: async ({ metadata }) => {
          seen.push(metadata.name);
          await Promise.resolve();
        },
      }),
    ],
  };
}

test("[first-use/8] a domain without its permissions is off, and says so at /readyz and on the operator's pod; the others work", async () => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "off");
  await using directory = await makeTempDirectory();
  await using connected = connect(cluster.admin);
  const { client } = connected;
  const widgets = widgetKind();
  await serveWidgets(client, widgets);
  const account = await makeIdentity(cluster.api, cluster.admin, {
    namespace: namespace.name,
    rules: [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "patch"] },
      { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
    ],
  });
  const seen: string[] = [];
  const pod = { namespace: namespace.name, name: "operator-0", uid: "0b5c6b32-4f5e-4b8c-9d7d-7d2a35e0a001" };
  await using replica = new Replica({
    name: "two-domains",
    domains: [notingDomain("texts", configMaps, seen), notingDomain("gadgets", widgets, seen)],
    namespace: namespace.name,
    config: { kubeconfigPath: await saveAccess(account, join(directory.path, "access")) },
    pod,
  });
  const note = `off, because the operator may not list and watch Widget.${widgets.group}; apply config/gadgets.yaml`;
  const { status, text } = await eventually(async (see) => {
    const response = see(await replica.probe());
    return response.status === 200 && response.text.includes("[!]") ? response : undefined;
  });
  expect({ status, text }).toEqual({
    status: 200,
    text: `[+]stores ok\n[+]running ok\n[!]gadgets ${note}\nok\n`,
  });
  const metadata = { name: "served", namespace: namespace.name };
  await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata });
  await eventually(() => seen.includes("served"));
  const event = await eventually(async () => {
    const { items } = await client.listPage(eventKind, { namespace: namespace.name });
    return items.find(({ regarding }) => regarding.uid === pod.uid);
  });
  expect(event).toMatchObject({
    type: "Warning",
    reason: "DomainOff",
    regarding: { kind: "Pod", name: "operator-0" },
    note: `Domain gadgets is ${note}. The other domains work.`,
  });

  await client.create(widgets, {
    apiVersion: `${widgets.group}/v1`,
    kind: "Widget",
    metadata: { name: "late", namespace: namespace.name },
    spec: {},
  });
  await cluster.api.apply(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace.name}/roles/gadgets`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "gadgets", namespace: namespace.name },
    rules: [{ apiGroups: [widgets.group], resources: ["widgets"], verbs: ["get", "list", "watch"] }],
  });
  await cluster.api.apply(
    `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace.name}/rolebindings/gadgets`,
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "gadgets", namespace: namespace.name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "gadgets" },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: account.user }],
    },
  );
  await eventually(() => seen.includes("late"), { withinMs: 90_000 });
  expect((await replica.probe()).text).not.toContain("[!]");
});
