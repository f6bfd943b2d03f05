import type { ProgressReport } from "../assets/progress.ts";
import type { AuditPolicy } from "../control-plane/api-server-arguments.ts";
import type { System } from "../system/system.ts";
import { clustersDirectory } from "./claim-directory.ts";

/** A node to be made, real or simulated. */
export interface NodeRequest {
  readonly name?: string;
  /** Value of the label topology.kubernetes.io/zone. */
  readonly zone?: string;
}

/** How the cluster is to be. Everything has a default; requesting `nodes` requests the profile with real nodes. */
export interface LocalClusterOptions {
  /** Name of the cluster's directory; a random one unless given. Two clusters of one name cannot run at the same time. */
  readonly name?: string;
  /** Real nodes (needs root). How many, or one by one. None by default. */
  readonly nodes?: number | readonly NodeRequest[];
  /** Directories of image layouts that every real node knows from its first pod on; none by default. */
  readonly images?: readonly string[];
  /** Lets the machine's package manager install what real nodes need; needs root. Off by default. */
  readonly installPrerequisites?: boolean;
  /** Nodes that run simulated pods (kwok). One by default where there are no real nodes. */
  readonly kwokNodes?: number | readonly NodeRequest[];
  /** `1.35`, `1.35.4` or `v1.35.4`; the newest supported version unless given. */
  readonly kubernetesVersion?: string | undefined;
  /** The directory below which the cluster makes its own; the user's cache by default. */
  readonly parentDirectory?: string;
  /** Port of the API server on 127.0.0.1; a free one unless given. */
  readonly port?: number | undefined;
  /** Switches the audit log on. */
  readonly audit?: AuditPolicy | undefined;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** How often the API server compacts etcd's history; five minutes by default, as in production. */
  readonly etcdCompactionIntervalMs?: number;
  /** More arguments for the API server, after ours. */
  readonly apiServerArguments?: readonly string[];
  /** GOGC of etcd and the control plane: a higher one takes more memory and less CPU time (default: 100, as Go has it). */
  readonly goGcPercent?: number;
  /** A second API server on the same etcd behind a relay that can be paused, for stale reads. */
  readonly staleApiServer?: boolean;
  /** `attached` (default): the cluster ends with this process, however that ends. `detached`: it lives until it is stopped. */
  readonly lifetime?: "attached" | "detached";
  /** Called with progress. */
  readonly report?: ProgressReport;
  /** Called once the API responds, while nodes are still on their way. Must not throw. */
  readonly onApiReady?: (api: ReadyApi) => void;
  /** Gives the start up; what was started is cleared away. */
  readonly signal?: AbortSignal;
}

/** The options with every default filled in; what stays undefined is switched off or found out later. */
export interface ClusterPlan {
  readonly name: string;
  readonly nodes: readonly Required<NodeRequest>[];
  readonly kwokNodes: readonly Required<NodeRequest>[];
  readonly images: readonly string[];
  readonly installPrerequisites: boolean;
  readonly kubernetesVersion: string | undefined;
  readonly parentDirectory: string;
  readonly port: number | undefined;
  readonly audit: AuditPolicy | undefined;
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly etcdCompactionInterval: string;
  readonly apiServerArguments: readonly string[];
  readonly goGcPercent: number;
  readonly staleApiServer: boolean;
  readonly lifetime: "attached" | "detached";
  readonly report: ProgressReport;
  readonly onApiReady: (api: ReadyApi) => void;
  readonly signal: AbortSignal;
}

/** A cluster whose API responds. */
export interface ReadyApi {
  /** Has `kubeconfig` and `bin/kubectl`. */
  readonly directory: string;
  /** Tells the user something among the progress. */
  readonly note: (text: string) => void;
}

/** Fills in the defaults. */
export function planCluster(options: LocalClusterOptions, system: System): ClusterPlan {
  const nodes = nameNodes(options.nodes ?? 0, "node");
  const kwokNodes = nameNodes(options.kwokNodes ?? (nodes.length === 0 ? 1 : 0), "kwok");
  const etcdCompactionInterval = `${options.etcdCompactionIntervalMs ?? 300_000}ms`;
  return { ...defaults(system), ...options, nodes, kwokNodes, etcdCompactionInterval };
}

function defaults(system: System): Omit<ClusterPlan, "nodes" | "kwokNodes" | "etcdCompactionInterval"> {
  return {
    name: system.randomHex(4),
    images: [],
    installPrerequisites: false,
    kubernetesVersion: undefined,
    parentDirectory: clustersDirectory(system),
    port: undefined,
    audit: undefined,
    featureGates: {},
    apiServerArguments: [],
    goGcPercent: 100,
    staleApiServer: false,
    lifetime: "attached",
    report: () => undefined,
    onApiReady: () => undefined,
    signal: new AbortController().signal,
  };
}

/** The same cluster with its real nodes replaced by simulated nodes, for machines that cannot have real ones. */
export function withoutRealNodes(plan: ClusterPlan): ClusterPlan {
  return { ...plan, nodes: [], kwokNodes: [...plan.nodes, ...plan.kwokNodes] };
}

function nameNodes(wanted: number | readonly NodeRequest[], stem: string): readonly Required<NodeRequest>[] {
  const requests =
    typeof wanted === "number" ? Array.from({ length: wanted }, (): NodeRequest => ({})) : wanted;
  return requests.map(({ name, zone }, index) => ({
    name: name ?? `${stem}-${index + 1}`,
    zone: zone ?? zoneOf(index),
  }));
}

/** Zones a, b, c in turn. */
function zoneOf(index: number): string {
  return ["a", "b", "c"][index % 3] ?? "a";
}
