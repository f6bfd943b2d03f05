import { elasticsearchCluster, openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import {
  type Client,
  createManager,
  type Kind,
  type KubeObject,
  type Live,
  realSystem,
  silentLog,
  type System,
  type Telemetry,
} from "@quartermaster/runtime";
import { pods } from "@quartermaster/runtime/kinds";
import {
  connect,
  crashGraceMs,
  type Access,
  type AuditEntry,
  type AuditPosition,
  eventually,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
} from "@quartermaster/testkit";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { searchController, type SearchControllerOptions } from "../../src/search-controller.ts";
import { searchPermissions } from "../../src/search-permissions.ts";
import { PasswordHasher } from "../../src/security-content/password-hasher.ts";
import { FakePrometheus } from "../fakes/index.ts";
import { KwokEngines } from "./kwok-engines.ts";

type SharedCluster = ReturnType<typeof joinSharedCluster>;

/** What tests of search clusters start from: a namespace, controllers with the shipped permissions, engines behind simulated pods. */
export interface SearchBench extends AsyncDisposable {
  readonly client: Client;
  readonly cluster: SharedCluster;
  readonly namespace: string;
  readonly engines: KwokEngines;
  /** Answers for the Prometheus of every cluster's own. */
  readonly prometheus: FakePrometheus;
  /** Who the controllers speak as. */
  readonly operator: Access;
  /** The wall clock of the controllers and of the engines; timers and samples keep the real time. */
  readonly clock: BenchClock;
  /** Number of reconciles that have ended, of all controllers and all their lives. */
  reconciles(): number;
  /** Touches a cluster and waits for a reconcile, so many times (default: twice). Of the only cluster, all but the first one begin after the call. */
  reconcile(name: string, times?: number): Promise<void>;
  /** Starts controllers; they end with the scope or with `stop`. Through a fault proxy, for example. */
  operate(access?: Access): Promise<void>;
  /** Ends the controllers, as a crash would: whatever they had in mind is lost. */
  stop(): Promise<void>;
  apply(object: object): Promise<Live<ClusterObject>>;
  /** As `kubectl create` and the first `kubectl apply` do. */
  create(object: object): Promise<Live<ClusterObject>>;
  get(name: string, kind?: Kind<ClusterObject>): Promise<Live<ClusterObject>>;
  /** The cluster once its status satisfies the demand. */
  until(
    name: string,
    demand: (object: Live<ClusterObject>) => boolean,
    kind?: Kind<ClusterObject>,
  ): Promise<Live<ClusterObject>>;
  /** Writes of the controllers since the mark, without events and status. */
  writes(position: AuditPosition): Promise<readonly AuditEntry[]>;
}

/** A wall clock that a test moves. */
export interface BenchClock {
  /** Later by so much from now on. */
  advance(byMs: number): void;
}

/** All kinds of search clusters. */
const kinds: readonly Kind<ClusterObject>[] = [
  openSearchCluster.kind,
  opsterOpenSearchCluster.kind,
  elasticsearchCluster.kind,
];

/** How the bench is set up. */
export interface SearchBenchOptions {
  /** Default: true. */
  readonly isOperating?: boolean;
  /** How often engines are looked at (default: each second while something is in progress). */
  readonly sampling?: SearchControllerOptions["sampling"];
  /** Hash passwords as the operator does (default: with the least work, because a real hash takes a quarter of a second of CPU time). */
  readonly hashesAsShipped?: boolean;
  /** How fast the wall clock of the controllers goes (default: 1). Waits that they count by timestamps get shorter by as much. */
  readonly clockRate?: number;
}

/** Sets it up. */
export async function setUpSearch({
  isOperating = true,
  sampling = {},
  hashesAsShipped = false,
  clockRate = 1,
}: SearchBenchOptions = {}): Promise<SearchBench> {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(joinSharedCluster());
  const admin = stack.use(connect(cluster.admin));
  const { client } = admin;
  const { name: namespace } = stack.use(await makeNamespace(cluster.api, "search"));
  const rules = [
    ...searchPermissions,
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  ];
  const operator = await makeIdentity(cluster.api, cluster.admin, {
    namespace,
    name: "operator",
    clusterRules: rules.map(({ apiGroups, resources, verbs }) => ({ apiGroups, resources, verbs })),
  });
  const { system, clock } = movableSystem(clockRate);
  const engines = stack.use(new KwokEngines(admin, namespace, system));
  const prometheus = new FakePrometheus();
  let managers = new AsyncDisposableStack();
  let reconciles = 0;
  const telemetry: Telemetry = {
    reconcileFinished: () => {
      reconciles += 1;
    },
  };
  const bench: SearchBench = {
    client,
    cluster,
    namespace,
    engines,
    prometheus,
    operator,
    clock,
    reconciles: () => reconciles,
    reconcile: async (name, times = 2) => {
      for (let at = 0; at < times; at += 1) {
        const before = reconciles;
        const body = { metadata: { annotations: { "tests/reconcile": String(before) } } };
        await client.patch(
          openSearchCluster.kind,
          { namespace, name },
          { patch: { kind: "merge", body }, fieldManager: "reconcile" },
        );
        await eventually(() => reconciles > before || undefined);
      }
    },
    operate: async (access = operator) => {
      const { transport } = managers.use(connect(access));
      const controllers = kinds.map((kind) =>
        searchController({
          kind,
          connect: engines.connect,
          request: prometheus.request,
          system,
          namespace,
          concurrency: 4,
          log: silentLog,
          // Engines of tests answer immediately; no one has to wait for them.
          sampling: { openMs: 1_000, ...sampling },
          policy: { pluginHosts: ["github.com"] },
          hasher: new PasswordHasher({ system, ...(hashesAsShipped ? {} : { rounds: 4 }) }),
        }),
      );
      const manager = managers.use(
        createManager({ transport, system, controllers, telemetry, graceMs: crashGraceMs }),
      );
      manager.start();
      await manager.ready({ timeoutMs: 30_000 });
    },
    stop: async () => {
      await managers[Symbol.asyncDispose]();
      managers = new AsyncDisposableStack();
    },
    apply: async (object) => {
      const { kind, placed } = placedIn(namespace, object);
      return await client.apply(kind, placed, { fieldManager: "tests", force: true });
    },
    create: async (object) => {
      const { kind, placed } = placedIn(namespace, object);
      return await client.create(kind, placed as Live<ClusterObject>);
    },
    get: async (name, kind = openSearchCluster.kind) => await client.get(kind, { namespace, name }),
    until: async (name, demand, kind = openSearchCluster.kind) =>
      await eventually(
        async (see) => {
          const found = await client.get(kind, { namespace, name });
          see(found.status);
          return demand(found) ? found : undefined;
        },
        { withinMs: 60_000 },
      ),
    writes: async (position) => await cluster.audit.writesSince(position, operator.user),
    [Symbol.asyncDispose]: async () => {
      await managers[Symbol.asyncDispose]();
      await stack[Symbol.asyncDispose]();
    },
  };
  if (isOperating) await bench.operate();
  return bench;
}

function movableSystem(rate: number): { readonly system: System; readonly clock: BenchClock } {
  const real = realSystem();
  const beganMs = real.wallMs();
  let aheadMs = 0;
  const wallMs = (): number => beganMs + (real.wallMs() - beganMs) * rate + aheadMs;
  return {
    system: { ...real, wallMs },
    clock: {
      advance: (byMs) => {
        aheadMs += byMs;
      },
    },
  };
}

function placedIn(
  namespace: string,
  object: object,
): { readonly kind: Kind<ClusterObject>; readonly placed: KubeObject } {
  const typed = object as KubeObject;
  const kind = kinds.find(
    (each) => typed.apiVersion.startsWith(`${each.group}/`) && each.kind === typed.kind,
  );
  if (kind === undefined) throw new Error(`no kind for ${typed.apiVersion} ${typed.kind}`);
  return { kind, placed: { ...typed, metadata: { ...typed.metadata, namespace } } };
}

/** The condition of a type as `status/reason`; undefined while the object's generation is not judged yet. */
export function conditionOf({ status, metadata }: Live<ClusterObject>, type: string): string | undefined {
  if (status?.observedGeneration !== metadata.generation) return undefined;
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? undefined : `${found.status}/${found.reason}`;
}

/** Whether the cluster is as declared. */
export function isReady(object: Live<ClusterObject>): boolean {
  return conditionOf(object, "Ready")?.startsWith("True/") === true;
}

/** Has the kubelet report of pods that their probe fails, or that it succeeds again. */
export async function sayReady(
  { client, namespace }: SearchBench,
  names: readonly string[],
  isPodReady: boolean,
): Promise<void> {
  const status = { conditions: [{ type: "Ready", status: isPodReady ? "True" : "False" }] };
  for (const name of names)
    await client.patch(
      pods,
      { namespace, name },
      { patch: { kind: "merge", body: { status } }, subresource: "status" },
    );
}

/** Message of the condition Ready. */
export function messageOf({ status }: Live<ClusterObject>): string {
  return status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
}

/** A cluster of one pool, as a user would write it. */
export function aCluster(
  name: string,
  changes: {
    readonly pools?: readonly object[];
    readonly general?: object;
    readonly spec?: object;
    readonly annotations?: object;
  } = {},
): object {
  const { pools, general = {}, spec = {}, annotations = {} } = changes;
  return {
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name, annotations },
    spec: {
      general: { serviceName: name, version: "2.19.4", ...general },
      nodePools: pools ?? [aPool("nodes", 3)],
      ...spec,
    },
  };
}

/** An Elasticsearch as a user would write it. */
export function anElasticsearch(name: string, changes: Parameters<typeof aCluster>[1] = {}): object {
  const { general = {} } = changes;
  return {
    ...aCluster(name, { ...changes, general: { version: "7.17.28", ...general } }),
    apiVersion: "elasticsearch.k8s.elastic.co/v1alpha1",
    kind: "ElasticsearchCluster",
  };
}

/** A pool as a user would write it. */
export function aPool(component: string, replicas: number, changes: object = {}): object {
  return { component, replicas, diskSize: "1Gi", roles: ["cluster_manager", "data"], ...changes };
}
