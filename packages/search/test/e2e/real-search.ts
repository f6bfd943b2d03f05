import { once } from "node:events";
import { request, type RequestOptions } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";

import {
  type Client,
  createClient,
  createManager,
  createTransport,
  type Kind,
  type KubeObject,
  type Live,
  loadConfig,
  realSystem,
  silentLog,
} from "@quartermaster/runtime";
import { namespaces, secrets, services } from "@quartermaster/runtime/kinds";
import {
  type Access,
  type RequestEngine,
  connect as connectTo,
  type DocumentLoad,
  type DocumentLoadOptions,
  type EngineVersion,
  crashGraceMs,
  eventually,
  provideEngineImage,
  reachPods,
  serveKinds,
  startDocumentLoad,
  startLocalCluster,
} from "@quartermaster/testkit";

import { queryPrometheus } from "../../src/autoscaling/query-prometheus.ts";
import { restEngine } from "../../src/distributions/rest-engine.ts";
import type { EngineDial } from "../../src/engine/open-connection.ts";
import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { searchController } from "../../src/search-controller.ts";
import { PasswordHasher } from "../../src/security-content/password-hasher.ts";
import type { Mortal } from "../support/live-and-die.ts";

/** A response of the engine. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

export interface Query {
  /** `user:password` (default: the administrator's). */
  readonly login?: string;
  readonly method?: string;
  readonly body?: unknown;
}

/** Real nodes, a namespace that enforces the restricted profile, and the controller of one search cluster in this process. */
export interface RealSearch extends AsyncDisposable, Mortal {
  readonly client: Client;
  readonly kubeconfigPath: string;
  apply(object: object): Promise<void>;
  /** The cluster as it is now. */
  get(): Promise<Live<ClusterObject>>;
  /** The cluster once its status satisfies the demand. */
  until(demand: (found: Live<ClusterObject>) => boolean): Promise<Live<ClusterObject>>;
  /** `username:password` of a Secret. */
  login(secret: string): Promise<string>;
  /** A connection to a Service of the namespace. */
  dialService(service: string, port: number): Promise<Socket>;
  /** Queries the engine through the cluster's Service, over TLS where it serves that. */
  request(path: string, question?: Query): Promise<Reply>;
  /** Fingerprint of the certificate that a pod shows to clients. */
  shown(host: string): Promise<string>;
  /** Writes and reads documents as an application would, as hard as `pace` says; what it needs to know is read once. */
  load(
    index: string,
    settings: object,
    pace?: Pick<DocumentLoadOptions, "clients" | "pauseMs">,
  ): Promise<DocumentLoad>;
}

/** Which cluster, and where. */
export interface RealSearchOptions extends EngineVersion {
  readonly kind: Kind<ClusterObject>;
  readonly namespace: string;
  /** Name of the cluster and of its Service. */
  readonly name: string;
  /** How many machines. */
  readonly nodes: number;
  /** Clients use plain HTTP (default: false). */
  readonly isPlain?: boolean;
  /** Directories of images besides the engine's. */
  readonly images?: readonly string[];
}

const minute = 60_000;

/** Whether the cluster is as declared. */
export function isReady({ status, metadata }: Live<ClusterObject>): boolean {
  const isJudged = status?.observedGeneration === metadata.generation;
  return (
    isJudged && status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") === true
  );
}

/** Starts it all; the first time also builds the engine's image. */
export async function startRealSearch(options: RealSearchOptions): Promise<RealSearch> {
  const { kind, namespace, name, nodes, isPlain = false, engine, version, images = [] } = options;
  await using starting = new AsyncDisposableStack();
  const image = await provideEngineImage({ engine, version });
  const cluster = await startLocalCluster({ nodes, images: [image.directory, ...images] });
  starting.defer(async () => await cluster.stop());
  const system = realSystem();
  const config = await loadConfig({ system, kubeconfigPath: cluster.kubeconfigPath });
  const transport = starting.use(createTransport({ config, system }));
  const client = createClient({ transport });
  const reach = await reachPods(cluster.directory);
  await serveKinds(client, [kind]);
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  await client.create(namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace, labels },
  });
  let life = new AsyncDisposableStack();
  starting.defer(async () => await life[Symbol.asyncDispose]());
  const operator: Access = { ...cluster.admin, token: cluster.admin.token ?? "" };
  const operate = async (access: Access): Promise<void> => {
    const own = life.use(connectTo(access));
    const dial: EngineDial = async ({ host, port }) => await reach.dial({ host, port });
    const controller = searchController({
      kind,
      connect: restEngine({ system, dial }),
      request: queryPrometheus({ system, dial }),
      system,
      hasher: new PasswordHasher({ system }),
      concurrency: 2,
      log: silentLog,
      policy: { pluginHosts: [] },
    });
    const manager = life.use(
      createManager({ transport: own.transport, system, controllers: [controller], graceMs: crashGraceMs }),
    );
    manager.start();
    await manager.ready({ timeoutMs: minute });
  };
  await operate(operator);
  const stack = starting.move();
  const secretText = async (secret: string, key: string): Promise<string> => {
    const { data } = await client.get(secrets, { namespace, name: secret });
    return Buffer.from(data?.[key] ?? "", "base64").toString();
  };
  const login = async (secret: string): Promise<string> =>
    `${await secretText(secret, "username")}:${await secretText(secret, "password")}`;
  const door = async (): Promise<Door> => {
    const { spec } = await client.get(services, { namespace, name });
    return {
      host: spec?.clusterIP ?? "",
      ca: isPlain ? "" : await secretText(`${name}-http-cert`, "ca.crt"),
      login: await login(`${name}-admin-password`),
    };
  };
  const responseAt = async (
    { host, ca, login: known }: Door,
    path: string,
    question: Query,
  ): Promise<Reply> => {
    const socket = await reach.dial({ host, port: 9200 });
    const auth = question.login ?? known;
    const createConnection = (): typeof socket =>
      isPlain ? socket : connect({ socket, ca, servername: `${name}.${namespace}.svc` });
    return await responseTo({ createConnection, path, auth }, question);
  };
  return {
    client,
    kubeconfigPath: cluster.kubeconfigPath,
    operator,
    operate,
    stop: async () => {
      await life[Symbol.asyncDispose]();
      life = new AsyncDisposableStack();
    },
    login,
    dialService: async (service, port) => {
      const { spec } = await client.get(services, { namespace, name: service });
      return await reach.dial({ host: spec?.clusterIP ?? "", port });
    },
    apply: async (object) => {
      await client.apply(kind, object as KubeObject, { fieldManager: "tests", force: true });
    },
    get: async () => await client.get(kind, { namespace, name }),
    until: async (demand) =>
      await eventually(
        async (see) => {
          const found = await client.get(kind, { namespace, name });
          see(found.status);
          return demand(found) ? found : undefined;
        },
        { withinMs: 6 * minute, everyMs: 500 },
      ),
    shown: async (host) => {
      const socket = await reach.dial({ host, port: 9200 });
      const peer = connect({ socket, ca: (await door()).ca, servername: `${name}.${namespace}.svc` });
      try {
        await once(peer, "secureConnect");
        return peer.getPeerX509Certificate()?.fingerprint256 ?? "";
      } finally {
        peer.destroy();
      }
    },
    request: async (path, question = {}) => await responseAt(await door(), path, question),
    load: async (index, settings, pace = {}) => {
      const open = await door();
      const query: RequestEngine = async (path, question) => await responseAt(open, path, question);
      return await startDocumentLoad({ request: query, index, settings, ...pace });
    },
    [Symbol.asyncDispose]: async () => await stack[Symbol.asyncDispose](),
  };
}

/** What it takes to speak to the engine through its Service. */
interface Door {
  readonly host: string;
  readonly ca: string;
  readonly login: string;
}

async function responseTo(where: RequestOptions, { method = "GET", body }: Query): Promise<Reply> {
  const headers = { "content-type": "application/json" };
  const requested = request({ ...where, method, headers, timeout: 10_000 });
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  // A pod that no longer exists closes nothing: without an end to its timeout a client would wait for minutes instead of asking again.
  requested.once("timeout", () => requested.destroy(new Error("no answer within 10 s")));
  requested.once("error", reject);
  requested.once("response", (response) => {
    text(response).then((output) => resolve({ status: response.statusCode ?? 0, body: output }), reject);
  });
  requested.end(body === undefined ? undefined : JSON.stringify(body));
  return await promise;
}
