import { readFile } from "node:fs/promises";

import { installPlan, type InstallPlan, resourceManifest } from "@quartermaster/api";
import {
  type Client,
  type ClusterConfig,
  createClient,
  createManager,
  createTransport,
  defineKind,
  Discovery,
  type Kind,
  type KubeObject,
  type Manager,
  realSystem,
  type Transport,
} from "@quartermaster/runtime";
import type { CustomResource } from "@quartermaster/runtime/schema";
import {
  type AuditEntry,
  type AuditLog,
  type AuditMark,
  eventually,
  faultsOfStatus,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
  type PolicyRule,
  WRITING_VERBS,
} from "@quartermaster/testkit";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

import { installPlanController } from "../../src/index.ts";

export const configMaps: Kind<KubeObject & { readonly data?: Readonly<Record<string, string>> }> = defineKind(
  {
    group: "",
    version: "v1",
    kind: "ConfigMap",
    plural: "configmaps",
    scope: "Namespaced",
  },
);

/** Everything in the namespace: what a plan's account usually has. */
export const allRights: PolicyRule = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };

type PlanSpec = Partial<Omit<InstallPlan["spec"], "stages">>;

/** What most tests here start from: a namespace with an account, and an operator that looks after its plans. */
export interface Workbench extends AsyncDisposable {
  readonly client: Client;
  readonly namespace: string;
  readonly account: string;
  readonly audit: AuditLog;
  /** Who the operator speaks as, in the audit log. */
  readonly operator: string;
  readonly operatorAccess: { readonly server: string; readonly caPem: string; readonly token: string };
  readonly kubeconfigPath: string;
  /** Starts an operator that ends with the workbench. */
  operate(options?: { readonly transport?: Transport }): Promise<Manager>;
  plan(name: string, stages: readonly unknown[], spec?: PlanSpec): InstallPlan;
  create(plan: InstallPlan): Promise<InstallPlan>;
  read(name: string): Promise<InstallPlan>;
  /** The plan once its status satisfies the demand. Prints the last one when it never does. */
  until(
    name: string,
    demand: (status: NonNullable<InstallPlan["status"]>) => boolean,
    timeoutMs?: number,
  ): Promise<InstallPlan>;
  installed(name: string): Promise<InstallPlan>;
  /** Writes since the mark to anything but plans, manifests, events and leases, by anybody of ours. */
  writes(mark: AuditMark): Promise<readonly AuditEntry[]>;
}

/** Sets a workbench up with an operator running, unless told otherwise. */
export async function setUpWorkbench({
  rules = [allRights],
  clusterRules = [],
  isOperating = true,
}: {
  readonly rules?: readonly PolicyRule[];
  readonly clusterRules?: readonly PolicyRule[];
  readonly isOperating?: boolean;
} = {}): Promise<Workbench> {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(joinSharedCluster());
  const admin = stack.use(connect(cluster.admin));
  await serveOurKinds(admin.client);
  const { name: namespace } = stack.use(await makeNamespace(cluster.api, "plans"));
  const account = "installer";
  await makeIdentity(cluster.api, cluster.admin, { namespace, name: account, rules, clusterRules });
  const operator = await makeIdentity(cluster.api, cluster.admin, {
    namespace,
    name: "operator",
    clusterRules: await operatorRules(),
  });
  const operatorLink = stack.use(connect(operator));
  const accountUser = `system:serviceaccount:${namespace}:${account}`;
  const { client } = admin;
  const faults = new Set<string>();
  const bench: Workbench = {
    client,
    namespace,
    account,
    audit: cluster.audit,
    operator: operator.user,
    operatorAccess: operator,
    kubeconfigPath: cluster.kubeconfigPath,
    operate: async ({ transport = operatorLink.transport } = {}) => {
      const system = realSystem();
      const discovery = new Discovery(transport, system);
      const controllers = [installPlanController({ system, discovery, namespace })];
      const manager = stack.use(createManager({ transport, system, controllers }));
      manager.start();
      await manager.ready({ timeoutMs: 30_000 });
      return manager;
    },
    plan: (name, stages, spec = {}) => planObject({ name, namespace, account, stages, spec }),
    create: async (plan) => await client.create(installPlan.kind, plan),
    read: async (name) => await client.get(installPlan.kind, { namespace, name }),
    until: async (name, demand, timeoutMs = 20_000) =>
      await eventually(
        async (see) => {
          const found = await client.get(installPlan.kind, { namespace, name });
          if (found.status !== undefined)
            for (const fault of faultsOfStatus(found)) faults.add(`${name}: ${fault}`);
          return see(found.status) !== undefined && demand(found.status ?? ({} as never)) ? found : undefined;
        },
        { withinMs: timeoutMs },
      ),
    installed: async (name) =>
      await bench.until(name, ({ conditions = [] }) =>
        conditions.some(({ type, status }) => type === "Ready" && status === "True"),
      ),
    writes: async (mark) => {
      const entries = await cluster.audit.since(mark, {});
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
          ].includes(resource) &&
          (user === operator.user || impersonatedUser === accountUser),
      );
    },
    [Symbol.asyncDispose]: async () => {
      await stack[Symbol.asyncDispose]();
      if (faults.size > 0) throw new Error(`statuses with faults: ${[...faults].join("; ")}`);
    },
  };
  if (isOperating) await bench.operate();
  return bench;
}

interface PlanParts {
  readonly name: string;
  readonly namespace: string;
  readonly account: string;
  readonly stages: readonly unknown[];
  readonly spec: PlanSpec;
}

function planObject({ name, namespace, account, stages, spec }: PlanParts): InstallPlan {
  const plan = {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { name, namespace },
    spec: { serviceAccountName: account, stages, ...spec },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server fills in the defaults
  return plan as unknown as InstallPlan;
}

/** The rules that the shipped ClusterRole gives the operator, and no others. */
async function operatorRules(): Promise<readonly PolicyRule[]> {
  const text = await readFile(new URL("../../../../config/rbac/operator.yaml", import.meta.url), "utf8");
  const [role] = parseAllDocuments(text).map((document): unknown => document.toJS());
  return z
    .object({
      rules: z.array(
        z.object({
          apiGroups: z.array(z.string()),
          resources: z.array(z.string()),
          verbs: z.array(z.string()),
        }),
      ),
    })
    .parse(role).rules;
}

/** Every file applies them: they are the same for all, and applying is idempotent. */
async function serveOurKinds(client: Client): Promise<void> {
  const ours: readonly CustomResource[] = [
    installPlan,
    resourceManifest,
  ] as readonly unknown[] as readonly CustomResource[];
  for (const { kind, definition } of ours) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a CustomResourceDefinition is an object of the API
    await client.apply(crds, definition() as unknown as KubeObject, { fieldManager: "tests", force: true });
    await eventually(async () => {
      await client.listPage(kind, { pageSize: 1 });
      return true;
    });
  }
}

const crds = defineKind({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

function configOf({
  server,
  caPem,
  token,
}: {
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}): ClusterConfig {
  const fixed = <T>(value: T): { current(): T; refresh(): Promise<T> } => ({
    current: () => value,
    refresh: async () => await Promise.resolve(value),
  });
  return {
    server,
    tls: { authorities: fixed<string | undefined>(caPem), insecure: false },
    credentials: fixed({ token }),
    namespace: "default",
    contextName: "tests",
  };
}

function connect(access: {
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}): AsyncDisposable & { readonly client: Client; readonly transport: Transport } {
  const system = realSystem();
  const transport = createTransport({ config: configOf(access), system });
  return {
    client: createClient({ transport }),
    transport,
    [Symbol.asyncDispose]: async () => await transport[Symbol.asyncDispose](),
  };
}
