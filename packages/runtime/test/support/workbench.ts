import {
  type AuditLog,
  faultsOfStatus,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
} from "@quartermaster/testkit";

import type { Client } from "../../src/client/client.ts";
import type { Controller } from "../../src/controller/define-controller.ts";
import { objectOf } from "../../src/informers/informer-event.ts";
import type { InformerHandle } from "../../src/informers/informer-pool.ts";
import { createManager, type Manager, type ManagerOptions } from "../../src/manager/manager.ts";
import type { Kind } from "../../src/object/kind.ts";
import { realSystem } from "../../src/system/real-system.ts";
import type { Transport } from "../../src/transport/transport.ts";
import { connect } from "./connect.ts";
import { serveWidgets, type Widget, widgetKind } from "./widgets.ts";

/** What most tests here start from: a namespace and a kind of their own on the shared control plane. */
export interface Workbench extends AsyncDisposable {
  readonly client: Client;
  readonly transport: Transport;
  readonly namespace: string;
  readonly widgets: Kind<Widget>;
  readonly audit: AuditLog;
  /** Who the managers speak as, in the audit log. */
  readonly operator: string;
  readonly operatorTransport: Transport;
  readonly operatorAccess: { readonly server: string; readonly caPem: string; readonly token: string };
  readonly kubeconfigPath: string;
  readonly admin: { readonly server: string; readonly caPem: string; readonly token: string };
  /** A manager that is stopped with the workbench; started and ready. */
  manage(controllers: readonly Controller[], options?: Partial<ManagerOptions>): Promise<Manager>;
}

/** Sets a workbench up; `widgets` are served by default. */
export async function setUpWorkbench({
  isServed = true,
}: { readonly isServed?: boolean } = {}): Promise<Workbench> {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(joinSharedCluster());
  const connected = stack.use(connect(cluster.admin));
  const namespace = stack.use(await makeNamespace(cluster.api, "runtime"));
  const everything = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
  const identity = await makeIdentity(cluster.api, cluster.admin, {
    namespace: namespace.name,
    clusterRules: [everything],
  });
  const operator = stack.use(connect(identity));
  const widgets = widgetKind();
  const faults = new Set<string>();
  if (isServed) await serveWidgets(connected.client, widgets);
  return {
    client: connected.client,
    transport: connected.transport,
    namespace: namespace.name,
    widgets,
    audit: cluster.audit,
    admin: cluster.admin,
    operator: identity.user,
    operatorTransport: operator.transport,
    operatorAccess: identity,
    kubeconfigPath: cluster.kubeconfigPath,
    manage: async (controllers, options = {}) => {
      const { transport } = operator;
      const manager = stack.use(createManager({ transport, system: realSystem(), controllers, ...options }));
      judgeStatuses(manager.informers.acquire({ kind: widgets, namespace: namespace.name }), faults);
      manager.start();
      await manager.ready({ timeoutMs: 30_000 });
      return manager;
    },
    [Symbol.asyncDispose]: async () => {
      await stack[Symbol.asyncDispose]();
      if (faults.size > 0) throw new Error(`statuses with faults: ${[...faults].join("; ")}`);
    },
  };
}

/** Every status that a test's controllers write is shown to the oracle, in each state that the watch tells of. */
function judgeStatuses(handle: InformerHandle<Widget>, faults: Set<string>): void {
  handle.addHandler((event) => {
    const object = objectOf(event);
    if (event.type === "deleted" || object.status?.conditions === undefined) return;
    for (const fault of faultsOfStatus(object)) faults.add(`${object.metadata.name}: ${fault}`);
  });
}
