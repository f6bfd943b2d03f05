import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { stringify } from "yaml";

import { type ApiAccess, ApiClient } from "../api/api-client.ts";
import type { ComponentName } from "../assets/component.ts";
import type { Binaries } from "../assets/resolve.ts";
import { type ClusterCredentials, writeKubeconfig } from "../pki/cluster-credentials.ts";
import type { System } from "../system/system.ts";
import {
  apiServerArguments,
  type AuditPolicy,
  auditPolicyDocument,
  controllerManagerArguments,
  type ControlPlaneFacts,
  etcdArguments,
  etcdSocket,
  KUBERNETES_SERVICE_ADDRESS,
  kwokArguments,
  schedulerArguments,
} from "./api-server-arguments.ts";
import {
  ApiServer,
  Component,
  type ComponentOptions,
  Etcd,
  isEtcdHealthy,
  type ReadinessProbe,
} from "./component.ts";

/** Where the control plane runs and how it is reached from here. */
export interface ControlPlaneLocation {
  /** Address and port the API server listens on, as its clients inside the cluster see it. */
  readonly address: string;
  readonly port: number;
  /** The same API server as this process reaches it. */
  readonly url: string;
  readonly networkNamespace?: string;
}

export interface ControlPlaneOptions {
  readonly directory: string;
  readonly binaries: Pick<Binaries, "path">;
  readonly credentials: ClusterCredentials;
  readonly location: ControlPlaneLocation;
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly audit: AuditPolicy | undefined;
  readonly etcdCompactionInterval: string;
  readonly apiServerArguments: readonly string[];
  readonly goGcPercent: number;
  /** Without any, kwok is not started. */
  readonly kwokNodes: readonly unknown[];
  readonly system: System;
  readonly signal: AbortSignal;
}

/** A running control plane whose API server is ready; the controllers behind it are on their way. */
export interface ControlPlane {
  readonly etcd: Etcd;
  readonly apiServer: ApiServer;
  readonly controllers: readonly Component[];
  readonly admin: ApiAccess;
  readonly auditLogPath: string | undefined;
  /** Starts one more API server on the same etcd, reached through `etcdSocketPath`. */
  addApiServer(name: string, etcdSocketPath: string, location: ControlPlaneLocation): Promise<ApiServer>;
  /** Writes a kubeconfig of a certified user for use inside the cluster. Returns its path. */
  kubeconfigFor(user: string, groups: readonly string[]): Promise<string>;
}

/** Starts etcd, the API server and, once that is ready, controller-manager, scheduler and, where it is needed, kwok. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const launcher = new Launcher(options);
  const etcd = await launcher.startEtcd();
  const apiServer = await launcher.startApiServer("kube-apiserver", etcd.socketPath, options.location);
  const controllers = await launcher.startControllers();
  return {
    etcd,
    apiServer,
    controllers,
    admin: launcher.accessTo(options.location.url),
    auditLogPath: launcher.auditLogPath("kube-apiserver"),
    addApiServer: async (name, socketPath, location) =>
      await launcher.startApiServer(name, socketPath, location),
    kubeconfigFor: async (user, groups) => await launcher.kubeconfigFor(user, groups),
  };
}

class Launcher {
  readonly #options: ControlPlaneOptions;
  readonly #facts: ControlPlaneFacts;

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
    const auditPolicyPath =
      options.audit === undefined ? undefined : join(options.directory, "audit-policy.yaml");
    if (auditPolicyPath !== undefined && options.audit !== undefined) {
      writeFileSync(auditPolicyPath, stringify(auditPolicyDocument(options.audit)));
    }
    this.#facts = { ...options, address: options.location.address, auditPolicyPath };
  }

  async startEtcd(): Promise<Etcd> {
    const { directory, signal } = this.#options;
    const socketPath = etcdSocket(directory);
    const isReady: ReadinessProbe = async (stop) => await isEtcdHealthy(socketPath, stop);
    const etcd = new Etcd(
      this.#component("etcd", { binary: "etcd", args: etcdArguments(directory), isReady }),
      socketPath,
    );
    await etcd.ready(signal);
    return etcd;
  }

  async startApiServer(name: string, socketPath: string, location: ControlPlaneLocation): Promise<ApiServer> {
    const { credentials, signal } = this.#options;
    const serving = await credentials.serving(name, {
      dnsNames: [
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
      ],
      ipAddresses: [...new Set(["127.0.0.1", location.address, KUBERNETES_SERVICE_ADDRESS])],
    });
    const server = {
      name,
      port: location.port,
      etcdSocket: socketPath,
      serving,
      auditLogPath: this.auditLogPath(name),
    };
    const args = apiServerArguments(this.#facts, server);
    const apiServer = new ApiServer(
      this.#component(name, { binary: "kube-apiserver", args, isReady: this.#readyzOf(location.url) }),
      location.url,
    );
    await apiServer.ready(signal);
    return apiServer;
  }

  async startControllers(): Promise<readonly Component[]> {
    const manager = await this.kubeconfigFor("system:kube-controller-manager", []);
    const scheduler = await this.kubeconfigFor("system:kube-scheduler", []);
    // They retry until the API serves them; who needs their work waits for its outcome.
    const isReady: ReadinessProbe = async () => await Promise.resolve(true);
    return [
      new Component(
        this.#component("kube-controller-manager", {
          binary: "kube-controller-manager",
          args: controllerManagerArguments(this.#facts, manager),
          isReady,
        }),
      ),
      new Component(
        this.#component("kube-scheduler", {
          binary: "kube-scheduler",
          args: schedulerArguments(this.#facts, scheduler),
          isReady,
        }),
      ),
      ...(this.#options.kwokNodes.length === 0 ? [] : [await this.#startKwok(isReady)]),
    ];
  }

  async #startKwok(isReady: ReadinessProbe): Promise<Component> {
    const stages = join(import.meta.dirname, "../../kwok/stages.yaml");
    const kubeconfig = await this.kubeconfigFor("kwok", ["system:masters"]);
    const args = kwokArguments(kubeconfig, stages);
    return new Component(this.#component("kwok", { binary: "kwok", args, isReady }));
  }

  auditLogPath(name: string): string | undefined {
    return this.#facts.auditPolicyPath === undefined
      ? undefined
      : join(this.#options.directory, "logs", `${name}-audit.log`);
  }

  accessTo(server: string): ApiAccess {
    const { caPem, adminToken } = this.#options.credentials;
    return { server, caPem, token: adminToken };
  }

  async kubeconfigFor(user: string, groups: readonly string[]): Promise<string> {
    const { credentials, directory, location } = this.#options;
    const path = join(directory, "pki", `${user.replaceAll(":", "-")}.kubeconfig`);
    const server = `https://${location.address}:${location.port}`;
    return writeKubeconfig(path, {
      server,
      caPem: credentials.caPem,
      user,
      credential: await credentials.client(user, groups),
    });
  }

  #readyzOf(url: string): ReadinessProbe {
    return async () => {
      using client = new ApiClient(this.accessTo(url));
      return await respondsOk(client);
    };
  }

  #component(name: string, { binary, args, isReady }: ComponentRequest): ComponentOptions {
    const { directory, location, system, binaries, goGcPercent } = this.#options;
    const command = binaries.path(binary);
    const env = { GOGC: String(goGcPercent) };
    return {
      launchRequest: { name, command, args, directory, env, networkNamespace: location.networkNamespace },
      isReady,
      system,
    };
  }
}

interface ComponentRequest {
  readonly binary: ComponentName;
  readonly args: readonly string[];
  readonly isReady: ReadinessProbe;
}

async function respondsOk(client: ApiClient): Promise<boolean> {
  try {
    return (await client.send({ path: "/readyz", timeoutMs: 5000 })).status === 200;
  } catch {
    // Not listening yet; the caller queries again and watches the process itself.
    return false;
  }
}
