import { installPlan, resourceManifest } from "@quartermaster/api";
import { createManager, Discovery, realSystem, type Kind } from "@quartermaster/runtime";
import { type Access, type LocalCluster, connect, type Connection, serveKinds } from "@quartermaster/testkit";

import { installPlanControllers } from "../../src/index.ts";
import { clusterRoleBindings, serviceAccounts } from "./kinds.ts";

/** The account that plans name, in the namespace `default`. */
const installer = { namespace: "default", name: "installer" };

/** An operator as the administrator, on a cluster that no other test uses, with an account for plans that has no permissions yet. */
export async function operateAlone(cluster: LocalCluster): Promise<Connection> {
  const { server, caPem, token = "" } = cluster.admin;
  await using link = connect({ server, caPem, token });
  await makeInstaller(link);
  return await operateThrough({ server, caPem, token });
}

/** Serves the kinds of plans and makes the account that plans name. */
export async function makeInstaller({ client }: Connection): Promise<void> {
  await serveKinds(client, [installPlan.kind, resourceManifest.kind] as readonly Kind[]);
  await client.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: installer });
}

/** An operator that reaches the API server this way. Ready immediately or later: a server that is behind keeps it waiting. */
export async function operateThrough(access: Access, { isAwaited = true } = {}): Promise<Connection> {
  const stack = new AsyncDisposableStack();
  const { client, transport } = stack.use(connect(access));
  const system = realSystem();
  const controllers = installPlanControllers({ system, discovery: new Discovery(transport, system) });
  const manager = stack.use(createManager({ transport, system, controllers }));
  manager.start();
  if (isAwaited) await manager.ready();
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
