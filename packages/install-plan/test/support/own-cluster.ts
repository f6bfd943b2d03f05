import { installPlan, resourceManifest } from "@quartermaster/api";
import { createManager, Discovery, realSystem, type Kind } from "@quartermaster/runtime";
import { type LocalCluster, connect, type Connection, serveKinds } from "@quartermaster/testkit";

import { installPlanControllers } from "../../src/index.ts";
import { clusterRoleBindings, serviceAccounts } from "./kinds.ts";

/** The account that plans name, in the namespace `default`. */
const installer = { namespace: "default", name: "installer" };

/** An operator as the administrator, on a cluster that no other test uses, with an account for plans that has no permissions yet. */
export async function operateAlone(cluster: LocalCluster): Promise<Connection> {
  const stack = new AsyncDisposableStack();
  const { server, caPem, token = "" } = cluster.admin;
  const link = stack.use(connect({ server, caPem, token }));
  const { client, transport } = link;
  await serveKinds(client, [installPlan.kind, resourceManifest.kind] as readonly Kind[]);
  await client.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: installer });
  const system = realSystem();
  const controllers = installPlanControllers({ system, discovery: new Discovery(transport, system) });
  const manager = stack.use(createManager({ transport, system, controllers }));
  manager.start();
  await manager.ready();
  return {
    client,
    transport,
    [Symbol.asyncDispose]: async () => {
      await stack[Symbol.asyncDispose]();
    },
  };
}

/** Gives the account every permission there is. */
export async function makeAdministrator({ client }: Connection): Promise<void> {
  await client.create(clusterRoleBindings, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: installer.name },
    ...administration(installer),
  });
}

/** What a binding says that makes an account an administrator. */
function administration({ namespace, name }: typeof installer): object {
  return {
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  };
}
