import { bundle, type Bundle, clusterBundle, type ClusterBundle } from "@quartermaster/api";
import {
  classify,
  type Client,
  createManager,
  type Kind,
  type KubeObject,
  type Live,
  type ObjectRef,
} from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";
import {
  type Access,
  connect,
  type AuditEntry,
  type AuditPosition,
  eventDrivenSystem,
  eventually,
  faultsOfStatus,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
} from "@quartermaster/testkit";

import { bundleControllers, type BundleControllersOptions, bundlePermissions } from "../../src/index.ts";

type Cluster = ReturnType<typeof joinSharedCluster>;

/** What tests of bundles start from: a namespace, names of its own, and controllers with the shipped permissions. */
export interface BundleBench extends AsyncDisposable {
  readonly client: Client;
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Who the controllers speak as. */
  readonly operator: string;
  readonly operatorAccess: Access;
  operate(options?: Omit<BenchOptions, "isOperating" | "isLimited">): Promise<void>;
  /** Stops the controllers without letting them finish. */
  stop(): Promise<void>;
  /** A name that no other test has. */
  named(stem: string): string;
  /** Creates an object that goes at the end. */
  create<O extends KubeObject>(kind: Kind<O>, object: object): Promise<Live<O>>;
  secret(name: string, keys: readonly string[]): Promise<void>;
  clusterBundle(
    name: string,
    spec: object,
    labels?: Readonly<Record<string, string>>,
  ): Promise<Live<ClusterBundle>>;
  bundle(name: string, spec: object, labels?: Readonly<Record<string, string>>): Promise<Live<Bundle>>;
  patch(kind: Kind, ref: ObjectRef, body: object): Promise<void>;
  /** The bundle once its status satisfies the demand. */
  until<O extends Bundle | ClusterBundle>(
    kind: Kind<O>,
    name: string,
    demand: (object: O) => boolean,
  ): Promise<Live<O>>;
  /** Writes of the controllers since the mark. */
  writes(position: AuditPosition): Promise<readonly AuditEntry[]>;
}

/** How the controllers run. Waits of two seconds and more never end: what heals does so by an event. */
export interface BenchOptions extends BundleControllersOptions {
  /** Whether they run from the start (default: true). */
  readonly isOperating?: boolean;
  /** Whether they have the limited permissions only: no Secrets, no Roles, no ClusterRoles. */
  readonly isLimited?: boolean;
  /** Whether they serve Bundles of all namespaces, as far as these have the label of the bench. */
  readonly isClusterWide?: boolean;
  /** Way to the API server, e.g. through a fault proxy (default: directly, with the shipped permissions). */
  readonly access?: Access;
}

/** Sets it up with controllers running by default. */
export async function setUpBench({
  isOperating = true,
  isLimited = false,
  ...options
}: BenchOptions = {}): Promise<BundleBench> {
  const stack = new AsyncDisposableStack();
  let managers = new AsyncDisposableStack();
  const cluster = stack.use(joinSharedCluster());
  const { client } = stack.use(connect(cluster.admin));
  const { name: namespace } = stack.use(await makeNamespace(cluster.api, "bundles"));
  const events = { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] };
  const permissions = bundlePermissions.filter(({ isOptional }) => !isLimited || isOptional !== true);
  const operator = await makeIdentity(cluster.api, cluster.admin, {
    namespace,
    name: "operator",
    clusterRules: [...permissions, events].map(({ apiGroups, resources, verbs }) => ({
      apiGroups,
      resources,
      verbs,
    })),
  });
  const faults = new Set<string>();
  const bench: BundleBench = {
    client,
    cluster,
    namespace,
    operator: operator.user,
    operatorAccess: operator,
    stop: async () => {
      await managers.disposeAsync();
      managers = new AsyncDisposableStack();
    },
    operate: async ({ isClusterWide = false, access = operator, ...given } = {}) => {
      const { transport } = managers.use(connect(access));
      // Tests run at the same time with different settings: each manages its own ClusterBundles.
      const clusterBundleSelector = `${ownLabel}=${namespace}`;
      const scope = isClusterWide ? { bundleSelector: clusterBundleSelector } : { namespace };
      const controllers = bundleControllers({ ...scope, clusterBundleSelector, ...given });
      // Longer limits would never end under this system: a server that is away must not keep it from stopping.
      const limits = { system: eventDrivenSystem(), graceMs: 1_000 };
      const manager = managers.use(createManager({ transport, controllers, ...limits }));
      manager.start();
      await manager.ready({ timeoutMs: 30_000 });
    },
    named: (stem) => `${stem}-${namespace}`,
    create: async <O extends KubeObject>(kind: Kind<O>, object: object) => {
      const live = await client.create(kind, object as unknown as O);
      stack.use(removing(client, kind, live.metadata));
      return live;
    },
    secret: async (name, keys) => {
      const stringData = Object.fromEntries(keys.map((key) => [key, "value"]));
      await bench.create(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace },
        stringData,
      });
    },
    clusterBundle: async (name, spec, labels = {}) =>
      await bench.create(clusterBundle.kind, {
        apiVersion: "subscription.openshift.io/v1alpha1",
        kind: "ClusterBundle",
        metadata: { name, labels: { [ownLabel]: namespace, ...labels } },
        spec,
      }),
    bundle: async (name, spec, labels = {}) =>
      await bench.create(bundle.kind, {
        apiVersion: "subscription.openshift.io/v1alpha1",
        kind: "Bundle",
        metadata: { name, namespace, labels },
        spec,
      }),
    patch: async (kind, ref, body) => {
      await client.patch(kind, ref, { patch: { kind: "merge", body } });
    },
    until: async (kind, name, demand) =>
      await eventually(
        async (see) => {
          const found = await client.get(kind, kind.scope === "Cluster" ? { name } : { name, namespace });
          if (found.status?.conditions !== undefined)
            for (const fault of faultsOfStatus(found)) faults.add(`${name}: ${fault}`);
          see(found.status);
          return demand(found) ? found : undefined;
        },
        { withinMs: 30_000 },
      ),
    writes: async (position) => await cluster.audit.writesSince(position, operator.user),
    [Symbol.asyncDispose]: async () => {
      await managers[Symbol.asyncDispose]();
      await stack[Symbol.asyncDispose]();
      if (faults.size > 0) throw new Error(`statuses with faults: ${[...faults].join("; ")}`);
    },
  };
  if (isOperating) await bench.operate(options);
  return bench;
}

/** On ClusterBundles: which bench made them. */
export const ownLabel = "tests.quartermaster.dev/bench";

/** The condition of a type as `status/reason`; undefined while the object's generation is not judged yet. */
export function conditionOf(object: Bundle | ClusterBundle, type: string): string | undefined {
  const { status, metadata } = object;
  if (status?.observedGeneration !== metadata.generation) return undefined;
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? undefined : `${found.status}/${found.reason}`;
}

/** Its message. */
export function messageOf({ status }: Bundle | ClusterBundle, type: string): string {
  return status?.conditions?.find((condition) => condition.type === type)?.message ?? "";
}

/** Deletes an object at the end of its scope, whether or not it is still there. */
export function removing(client: Client, kind: Kind, { name, namespace }: ObjectRef): AsyncDisposable {
  const ref = kind.scope === "Cluster" || namespace === undefined ? { name } : { name, namespace };
  return {
    [Symbol.asyncDispose]: async () => {
      try {
        await client.delete(kind, ref);
      } catch (error) {
        if (classify(error) !== "notFound") throw error;
      }
    },
  };
}
