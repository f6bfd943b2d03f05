import { setTimeout as sleep } from "node:timers/promises";

import {
  classify,
  type Client,
  createManager,
  defineKind,
  fieldOf,
  type InformerHandle,
  type Kind,
  type KubeObject,
  listOf,
  type Live,
  realSystem,
  type System,
  textOf,
} from "@quartermaster/runtime";
import {
  type ConfigMap,
  configMaps,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  type Pod,
  pods,
  type Secret,
  secrets,
} from "@quartermaster/runtime/kinds";
import type { Connection } from "@quartermaster/testkit";
import { compareSync } from "bcryptjs";

import type { ConnectEngine, EngineClient } from "../../src/engine/engine-client.ts";
import { EngineError } from "../../src/engine/engine-error.ts";
import type { EngineIdentity } from "../../src/engine/engine-facts.ts";
import { FakeEngine, type FakePod } from "../fakes/index.ts";

const persistentVolumes: Kind = defineKind({
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  scope: "Cluster",
});

/** Where the cluster's name is, on pods and volumes. */
const clusterLabel = "search.quartermaster.dev/cluster";

/**
 * An engine for each search cluster of a namespace whose pods kwok simulates: follows pods, volumes, Secrets and ConfigMaps as the
 * kubelet would, and binds claims, because no one provisions volumes there.
 */
export class KwokEngines implements AsyncDisposable {
  readonly #client: Client;
  readonly #system: System;
  readonly #stack = new AsyncDisposableStack();
  readonly #watched: Watched;
  readonly #engines = new Map<string, FakeEngine>();
  #pods: readonly FakePod[] = [];
  /** Lists that pods were born with, by uid. */
  readonly #born = new Map<string, readonly string[]>();
  /** Uids of claims that have got a volume, which the watch may not show yet. */
  readonly #bound = new Set<string>();
  /** Files as the kubelet last brought them, by uid. */
  readonly #files = new Map<string, MountedFiles>();
  /** Pods that run keep the files that they have: kubelets take a minute or more to bring others. */
  isKubeletSlow = false;
  #isCut = false;
  /** UUIDs that nodes report instead of their own, by node. */
  readonly strangers = new Map<string, string>();
  /** Pods that are told to be down. */
  readonly down = new Set<string>();
  #isFinished = false;
  readonly #loop: Promise<void>;
  readonly calls: string[] = [];
  /** Is told of each call before it reaches an engine. */
  onCall: (call: string) => void = () => undefined;

  constructor(
    { client, transport }: Pick<Connection, "client" | "transport">,
    namespace: string,
    system: System = realSystem(),
  ) {
    this.#client = client;
    this.#system = system;
    const manager = this.#stack.use(createManager({ transport, system: realSystem(), controllers: [] }));
    const watch = <O extends KubeObject>(kind: Kind<O>): InformerHandle<O> =>
      this.#stack.use(manager.informers.acquire({ kind, namespace }));
    this.#watched = {
      pods: watch<Pod>(pods),
      claims: watch<PersistentVolumeClaim>(persistentVolumeClaims),
      configs: watch<ConfigMap>(configMaps),
      secrets: watch<Secret>(secrets),
    };
    this.#loop = this.#run();
  }

  /** Which engine it is shows in the pods, which may not be seen yet when a client is made: it is looked up with each call. */
  readonly connect: ConnectEngine = (target) => {
    const node = target.endpoints[0]?.node ?? "";
    const client = (): EngineClient => {
      const name = this.#pods.find((pod) => pod.name === node)?.clusterName ?? "";
      return this.engine(name, target.distribution).connect(target);
    };
    return new Proxy({} as EngineClient, {
      get: (_target, call): unknown => {
        if (this.#isCut && call !== "close") return async () => await this.#refuse(call);
        const engine = client();
        if (call === "identity" && this.strangers.size > 0)
          return async (requested: string) => await this.#identity(engine, requested);
        const found: unknown = Reflect.get(engine, call);
        return typeof found === "function"
          ? (...args: readonly unknown[]): unknown => Reflect.apply(found, engine, args)
          : found;
      },
    });
  };

  /** From now on no call of the operator reaches an engine; the engines themselves continue. */
  cut(): void {
    this.#isCut = true;
  }

  /** Ends what `cut` began. */
  reconnect(): void {
    this.#isCut = false;
  }

  async #identity(engine: EngineClient, node: string): Promise<EngineIdentity> {
    const identity = await engine.identity(node);
    return { ...identity, clusterUuid: this.strangers.get(node) ?? identity.clusterUuid };
  }

  async #refuse(call: string | symbol): Promise<never> {
    this.#called(String(call));
    await Promise.resolve();
    throw new EngineError(`${String(call)}: no route to host`, { code: "unreachable", mayHaveActed: false });
  }

  /** The engine of a cluster. */
  engine(name: string, distribution: "opensearch" | "elasticsearch" = "opensearch"): FakeEngine {
    const known = this.#engines.get(name);
    if (known !== undefined) return known;
    const engine = new FakeEngine({
      system: this.#system,
      distribution,
      securityPollMs: 200,
      recoverMs: 100,
      pods: () => this.#podsOf(name),
      onCall: (call) => {
        this.#called(call);
      },
    });
    this.#engines.set(name, engine);
    return engine;
  }

  #called(call: string): void {
    this.calls.push(call);
    this.onCall(call);
  }

  /** A node that is told to be down is down from then on, and not from the next look at pods. */
  #podsOf(name: string): readonly FakePod[] {
    return this.#pods
      .filter(({ clusterName }) => clusterName === name)
      .map((pod) => (this.down.has(pod.name) ? { ...pod, isRunning: false } : pod));
  }

  async #run(): Promise<void> {
    await Promise.all(Object.values(this.#watched).map(async ({ synced }: InformerHandle) => await synced));
    while (!this.#isFinished) {
      try {
        await this.#sample();
      } catch (error) {
        if (!this.#isFinished) process.stderr.write(`kwok engines: ${String(error)}\n`);
      }
      await sleep(40);
    }
  }

  async #sample(): Promise<void> {
    const state = {
      claims: this.#watched.claims.store.list(),
      configs: this.#watched.configs.store.list(),
      secretList: this.#watched.secrets.store.list(),
    };
    await Promise.all(state.claims.map(async (claim) => await this.#bind(claim)));
    this.#pods = this.#watched.pods.store.list().map((pod) => this.#fakePod(pod, state));
  }

  async #bind(claim: Live<PersistentVolumeClaim>): Promise<void> {
    const { name, uid, namespace } = claim.metadata;
    const isBound = claim.spec?.volumeName !== undefined || this.#bound.has(uid);
    if (isBound || claim.metadata.deletionTimestamp !== undefined) return;
    const storageClassName = claim.spec?.storageClassName;
    const volume = {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: `pv-${uid}` },
      spec: {
        // Volumes of a class are large enough for whatever a claim requests later.
        capacity: { storage: storageClassName === undefined ? "1Gi" : "100Gi" },
        ...classOf(claim),
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Delete",
        claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace, uid },
        hostPath: { path: `/nowhere/${uid}` },
      },
    };
    try {
      await this.#client.create(persistentVolumes, volume);
    } catch (error) {
      if (classify(error) !== "alreadyExists") throw error;
    }
    this.#bound.add(uid);
  }

  #fakePod(pod: Live<Pod>, state: State): FakePod {
    const { name, uid } = pod.metadata;
    const clusterName = clusterNameOf(pod);
    if (!this.#born.has(uid)) this.#born.set(uid, foundersOf(clusterName, state));
    const claim = state.claims.find(({ metadata }) => metadata.name === `data-${name}`);
    return {
      name,
      uid,
      volume: claim?.metadata.uid ?? uid,
      isRunning: isRunning(pod),
      roles: rolesOf(pod, state.configs),
      // Another build has a tag of its own, and the engine in it the same version.
      version: (/[^:]*$/.exec(pod.spec.containers[0]?.image ?? "")?.[0] ?? "").replace(/-r\d+$/, ""),
      clusterName,
      initialManagers: this.#born.get(uid) ?? [],
      ...this.#mounted(uid, filesOf(pod, state)),
      ...accountsOf(clusterName, state),
    };
  }

  #mounted(uid: string, now: MountedFiles): MountedFiles {
    const before = this.#files.get(uid);
    const files = this.isKubeletSlow && before !== undefined ? before : now;
    this.#files.set(uid, files);
    return files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isFinished = true;
    await this.#loop;
    await this.#stack[Symbol.asyncDispose]();
  }
}

/** What the kubelet would know of a namespace. */
interface Watched {
  readonly pods: InformerHandle<Pod>;
  readonly claims: InformerHandle<PersistentVolumeClaim>;
  readonly configs: InformerHandle<ConfigMap>;
  readonly secrets: InformerHandle<Secret>;
}

/** The controller of volumes binds only what has the claim's class. */
function classOf({ spec }: Live<PersistentVolumeClaim>): object {
  return spec?.storageClassName === undefined ? {} : { storageClassName: spec.storageClassName };
}

interface State {
  readonly claims: readonly Live<PersistentVolumeClaim>[];
  readonly configs: readonly Live<ConfigMap>[];
  readonly secretList: readonly Live<Secret>[];
}

function clusterNameOf({ metadata: { labels } }: Live<Pod>): string {
  return labels?.[clusterLabel] ?? "";
}

function isRunning({ metadata, status }: Live<Pod>): boolean {
  const isReady =
    status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") === true;
  return isReady && metadata.deletionTimestamp === undefined;
}

function foundersOf(clusterName: string, { configs }: State): readonly string[] {
  const list = configs.find(({ metadata }) => metadata.name === `${clusterName}-bootstrap`);
  const text = list?.data?.["initial-managers.yml"] ?? "";
  return text.match(/[a-z0-9-]+-\d+(?=["',\]\s]|$)/gm) ?? [];
}

type MountedFiles = Pick<FakePod, "files" | "transportFiles">;

/** What the kubelet puts into the volume of certificates, by path. */
function filesOf({ spec }: Live<Pod>, { secretList }: State): MountedFiles {
  const volume = spec.volumes?.find(({ name }) => name === "certificates");
  const paths = new Map<string, string>();
  for (const source of listOf(fieldOf(volume, "projected"), "sources")) {
    const secret = fieldOf(source, "secret");
    const live = secretList.find(({ metadata }) => metadata.name === textOf(secret, "name"));
    if (live === undefined) continue;
    for (const item of listOf(secret, "items"))
      paths.set(textOf(item, "path") ?? "", decode(live, textOf(item, "key") ?? ""));
  }
  const layer = (name: string): FakePod["files"] => {
    const certificatePem = paths.get(`${name}.crt`);
    if (certificatePem === undefined) return undefined;
    return {
      certificatePem,
      keyPem: paths.get(`${name}.key`) ?? "",
      caPem: paths.get(`${name}-ca.crt`) ?? "",
    };
  };
  const [files, transportFiles] = [layer("http"), layer("transport")];
  return {
    ...(files === undefined ? {} : { files }),
    ...(transportFiles === undefined ? {} : { transportFiles }),
  };
}

const matches = new Map<string, boolean>();

/** Who may log in: accounts whose password is the one behind the hash that the realm's files have now. */
function accountsOf(clusterName: string, { secretList }: State): Pick<FakePod, "accounts"> {
  const files = secretList.find(({ metadata }) => metadata.name === `${clusterName}-file-realm`);
  if (files === undefined) return {};
  const hashes = new Map(
    decode(files, "users")
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
  );
  const logins = secretList.map(
    (secret) => [decode(secret, "username"), decode(secret, "password")] as const,
  );
  return {
    accounts: Object.fromEntries(
      logins.filter(([name, password]) => name !== "" && isBehind(hashes.get(name) ?? "", password)),
    ),
  };
}

function isBehind(hash: string, password: string): boolean {
  const key = `${hash} ${password}`;
  const known = matches.get(key) ?? (/^\$2a\$\d\d\$/.test(hash) && compareSync(password, hash));
  matches.set(key, known);
  return known;
}

/** As the node's own configuration says. */
function rolesOf(pod: Live<Pod>, configs: readonly Live<ConfigMap>[]): readonly string[] {
  const config = configs.find(
    ({ metadata }) => metadata.name === `${pod.metadata.name.replace(/-\d+$/, "")}-config`,
  );
  const text = Object.values(config?.data ?? {}).join("\n");
  const block = /node\.roles:((?:\s*\n\s*- .*)+|.*)/.exec(text)?.[1] ?? "";
  return (block.match(/[a-z_]+/g) ?? []).map((role) => (role === "master" ? "cluster_manager" : role));
}

function decode(secret: Live<Secret>, key: string): string {
  return Buffer.from(secret.data?.[key] ?? "", "base64").toString();
}
