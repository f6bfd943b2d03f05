import type { ApiAccess } from "../api/api-client.ts";
import type { ComponentHandle } from "../control-plane/component.ts";
import type { EtcdHandle } from "../control-plane/etcd.ts";
import type { NodeHandle } from "../nodes/node.ts";
import type { PausableRelay } from "../relay/pausable-relay.ts";

/** What kubectl said. */
export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An API server: a component with an address. */
export interface ApiServerHandle extends ComponentHandle {
  readonly url: string;
}

/** A second API server, and the relay that can hold its view of the world back. */
export interface StaleApiServer {
  readonly apiServer: ApiServerHandle;
  readonly relay: PausableRelay;
}

/** One process of the cluster and what it takes of the machine. */
export interface ComponentUsage {
  readonly name: string;
  readonly pid: number;
  readonly residentBytes: number;
}

/** A running Kubernetes. `await using` stops it. */
export interface LocalCluster extends AsyncDisposable {
  readonly name: string;
  readonly profile: "control-plane" | "nodes";
  readonly kubernetesVersion: string;
  /** Everything the cluster has on disk. */
  readonly folder: string;
  /** Kubeconfig of the administrator; its credential is a bearer token, so it works through a proxy too. */
  readonly kubeconfigPath: string;
  /** The same as plain values. */
  readonly admin: ApiAccess;
  readonly etcd: EtcdHandle;
  readonly apiServer: ApiServerHandle;
  /** Undefined unless the cluster was started with `staleApiServer`. */
  readonly stale: StaleApiServer | undefined;
  /** The real nodes, in the order asked for; empty in the control-plane profile. */
  readonly nodes: readonly NodeHandle[];
  /** Undefined unless the cluster was started with `audit`. */
  readonly auditLogPath: string | undefined;
  /** Sentences for the user about what was done differently than asked. */
  readonly notes: readonly string[];
  /**
   * Makes a port of this machine's loopback answer on the API server's loopback too, for webhooks that run here. Does
   * nothing where the API server is on the same loopback.
   */
  reachHostPort(port: number): Promise<void>;
  /** Runs the kubectl of the cluster's version as its administrator. Resolves whatever the exit code. */
  kubectl(args: readonly string[], options?: { readonly input?: string }): Promise<KubectlResult>;
  /** The processes that make up the cluster, with their resident memory. */
  usage(): readonly ComponentUsage[];
  /** Ends everything and removes the folder. */
  stop(): Promise<void>;
}
