import { installPlan, type InstallPlan } from "@quartermaster/api";
import {
  type Client,
  createManager,
  Discovery,
  type Log,
  type Manager,
  realSystem,
  type System,
  type Transport,
} from "@quartermaster/runtime";
import {
  type AuditEntry,
  type AuditLog,
  type AuditPosition,
  eventually,
  faultsOfStatus,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
  type PolicyRule,
  WRITING_VERBS,
  type Access,
  connect,
  crashGraceMs,
} from "@quartermaster/testkit";

import { installPlanControllers } from "../../src/index.ts";
import { contradictionsIn } from "../../src/report/phase-table.ts";
import { configMaps, events, type PlanEvent } from "./kinds.ts";
import { goAnnotation } from "./manifests.ts";
import { operatorRules } from "./operator-rules.ts";

export { configMaps, type PlanEvent } from "./kinds.ts";

/** Everything in the namespace: what a plan's account usually has. */
export const allPermissions: PolicyRule = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };

/** What the shipped Role gives the operator in its own namespace. */
const leaseRule: PolicyRule = {
  apiGroups: ["coordination.k8s.io"],
  resources: ["leases"],
  verbs: ["get", "create", "update", "patch"],
};

/** Fields of a plan's spec as an author writes them: what is left out has a default. */
type PlanSpec = Readonly<Partial<Record<keyof Omit<InstallPlan["spec"], "stages">, unknown>>>;

/** What most tests here start from: a namespace with an account, and an operator that manages its plans. */
export interface Workbench extends AsyncDisposable {
  readonly client: Client;
  readonly namespace: string;
  readonly account: string;
  /** Speaks as the administrator, with a client that shares no code with what is under test. */
  readonly api: ReturnType<typeof joinSharedCluster>["api"];
  readonly audit: AuditLog;
  /** Who the operator speaks as, in the audit log. */
  readonly operator: string;
  readonly operatorAccess: Access;
  readonly adminAccess: Access;
  readonly kubeconfigPath: string;
  /** Starts an operator that ends with the workbench. */
  operate(options?: {
    readonly transport?: Transport;
    readonly log?: Log;
    readonly system?: System;
    /** As `--require-author` of the operator (default: false). */
    readonly requireAuthor?: boolean;
  }): Promise<Manager>;
  /** Disposes of it at the end, when no operator is left that would mend what goes. */
  use<T extends AsyncDisposable>(resource: T): T;
  plan(name: string, stages: readonly unknown[], spec?: PlanSpec): InstallPlan;
  create(plan: InstallPlan): Promise<InstallPlan>;
  read(name: string): Promise<InstallPlan>;
  patchPlan(name: string, body: object): Promise<void>;
  deletePlan(name: string): Promise<void>;
  /** What was reported about a plan. */
  events(name: string): Promise<readonly PlanEvent[]>;
  /** The plan once its status satisfies the demand. Prints the last one when it never does. */
  until(
    name: string,
    demand: (status: NonNullable<InstallPlan["status"]>) => boolean,
    timeoutMs?: number,
  ): Promise<InstallPlan>;
  installed(name: string, timeoutMs?: number): Promise<InstallPlan>;
  /** The plan once it is in this phase. */
  inPhase(name: string, phase: string): Promise<InstallPlan>;
  /** Makes a ConfigMap of `gated` ready. */
  openGate(name: string): Promise<void>;
  /** Writes since the mark to anything but plans, manifests, events and leases, by anybody of ours. */
  writes(position: AuditPosition): Promise<readonly AuditEntry[]>;
}

/** Sets a workbench up with an operator running by default. */
export async function setUpWorkbench({
  rules = [allPermissions],
  clusterRules = [],
  operatorClusterRules,
  isOperating = true,
}: {
  readonly rules?: readonly PolicyRule[];
  readonly clusterRules?: readonly PolicyRule[];
  /** Of the operator (default: those that are shipped). */
  readonly operatorClusterRules?: readonly PolicyRule[];
  readonly isOperating?: boolean;
} = {}): Promise<Workbench> {
  const stack = new AsyncDisposableStack();
  const managers = new AsyncDisposableStack();
  const cluster = stack.use(joinSharedCluster());
  const admin = stack.use(connect(cluster.admin));
  const { name: namespace } = stack.use(await makeNamespace(cluster.api, "plans"));
  const account = "installer";
  await makeIdentity(cluster.api, cluster.admin, { namespace, name: account, rules, clusterRules });
  const operator = await makeIdentity(cluster.api, cluster.admin, {
    namespace,
    name: "operator",
    rules: [leaseRule],
    clusterRules: operatorClusterRules ?? (await operatorRules()),
  });
  const operatorLink = stack.use(connect(operator));
  const accountUser = `system:serviceaccount:${namespace}:${account}`;
  const { client } = admin;
  const faults = new Set<string>();
  const bench: Workbench = {
    client,
    namespace,
    account,
    api: cluster.api,
    audit: cluster.audit,
    operator: operator.user,
    operatorAccess: operator,
    adminAccess: cluster.admin,
    kubeconfigPath: cluster.kubeconfigPath,
    operate: async (options = {}) => {
      const {
        transport = operatorLink.transport,
        log,
        system = realSystem(),
        requireAuthor = false,
      } = options;
      const discovery = new Discovery(transport, system);
      const controllers = installPlanControllers({ system, discovery, namespace, requireAuthor });
      const manager = managers.use(
        createManager({
          transport,
          system,
          controllers,
          graceMs: crashGraceMs,
          ...(log === undefined ? {} : { log }),
        }),
      );
      manager.start();
      await manager.ready({ timeoutMs: 30_000 });
      return manager;
    },
    use: (resource) => stack.use(resource),
    plan: (name, stages, spec = {}) => planObject({ name, namespace, account, stages, spec }),
    create: async (plan) => await client.create(installPlan.kind, plan),
    patchPlan: async (name, body) => {
      await client.patch(installPlan.kind, { namespace, name }, { patch: { kind: "merge", body } });
    },
    deletePlan: async (name) => {
      await client.delete(installPlan.kind, { namespace, name });
    },
    events: async (name) => {
      const { items } = await client.listPage(events, { namespace });
      return items.filter(({ regarding }) => regarding.name === name);
    },
    read: async (name) => await client.get(installPlan.kind, { namespace, name }),
    until: async (name, demand, timeoutMs = 60_000) =>
      await eventually(
        async (see) => {
          const found = await client.get(installPlan.kind, { namespace, name });
          if (found.status !== undefined)
            for (const fault of [...faultsOfStatus(found), ...contradictionsIn(found.status)])
              faults.add(`${name}: ${fault}`);
          return see(found.status) !== undefined && demand(found.status ?? {}) ? found : undefined;
        },
        { withinMs: timeoutMs },
      ),
    installed: async (name, timeoutMs) =>
      await bench.until(
        name,
        ({ conditions = [] }) => conditions.some(({ type, status }) => type === "Ready" && status === "True"),
        timeoutMs,
      ),
    inPhase: async (name, wanted) => await bench.until(name, ({ phase }) => phase === wanted),
    openGate: async (name) => {
      const body = { metadata: { annotations: { [goAnnotation]: "yes" } } };
      // A stage is announced before its objects are written.
      await eventually(
        async () => await client.patch(configMaps, { namespace, name }, { patch: { kind: "merge", body } }),
      );
    },
    writes: async (position) => {
      const entries = await cluster.audit.since(position, {});
      return entries.filter(
        ({ verb, resource, user, impersonatedUser, path }) =>
          WRITING_VERBS.includes(verb) &&
          !path.includes("dryRun=") &&
          ![
            "installplans",
            "resourcemanifests",
            "events",
            "leases",
            "selfsubjectrulesreviews",
            "selfsubjectaccessreviews",
            "selfsubjectreviews",
            "subjectaccessreviews",
          ].includes(resource) &&
          (user === operator.user || impersonatedUser === accountUser),
      );
    },
    [Symbol.asyncDispose]: async () => {
      await managers[Symbol.asyncDispose]();
      await stack[Symbol.asyncDispose]();
      if (faults.size > 0) throw new Error(`statuses with faults: ${[...faults].join("; ")}`);
    },
  };
  if (isOperating) await bench.operate();
  return bench;
}

interface PlanOptions {
  readonly name: string;
  readonly namespace: string;
  readonly account: string;
  readonly stages: readonly unknown[];
  readonly spec: PlanSpec;
}

function planObject({ name, namespace, account, stages, spec }: PlanOptions): InstallPlan {
  const plan = {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { name, namespace },
    spec: { serviceAccountName: account, stages, ...spec },
  };
  return plan as unknown as InstallPlan;
}
