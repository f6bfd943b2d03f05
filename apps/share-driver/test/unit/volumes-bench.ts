import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { share } from "@quartermaster/api";
import { type KubeObject, silentLog, type Transport } from "@quartermaster/runtime";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { apiError, RecordedApi } from "@quartermaster/testkit";

import type { VolumeRecord } from "../../src/files/volume-records.ts";
import { Volumes } from "../../src/volume/volumes.ts";
import { DirectoryTmpfs } from "./directory-tmpfs.ts";

/** Virtual time that says when the driver takes a new id: right before it writes the content of a volume. */
class BenchSystem extends VirtualSystem {
  onUuid: () => void = () => undefined;

  override uuid(): string {
    this.onUuid();
    return super.uuid();
  }
}

/** The volumes of a node over a server that the test plays; time is virtual. */
export class VolumesBench implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), "qm-volumes-"));
  readonly system = new BenchSystem();
  readonly tmpfs = new DirectoryTmpfs();
  readonly api = new RecordedApi();
  readonly published: string[] = [];
  readonly refreshed: string[] = [];
  /** Names of Shares that pods may not use. */
  readonly denied = new Set<string>();
  /** Watches that are open, by the name of their object, with its namespace where it is not `home`. */
  readonly watches = new Map<string, Set<(line: string) => void>>();
  #stop = new AbortController();
  volumes = this.#start();

  constructor() {
    this.api.respondRaw = (_path, body) => {
      const { name } = (body as { spec: { resourceAttributes: { name: string } } }).spec.resourceAttributes;
      return { status: { allowed: !this.denied.has(name) } };
    };
  }

  /** A Share with the Secret behind it, of the same name. */
  share(name: string, { secret = name, namespace = "home" } = {}): void {
    this.api.put({
      apiVersion: `${share.kind.group}/${share.kind.version}`,
      kind: share.kind.kind,
      metadata: { name },
      spec: { backingResource: { kind: "Secret", apiVersion: "v1", namespace, name: secret } },
    } as KubeObject);
  }

  /** The Secret gets this content; its watches report it unless they are held. */
  async write(
    name: string,
    data: Readonly<Record<string, string>>,
    {
      isReported = true,
      version,
      namespace = "home",
    }: { readonly isReported?: boolean; readonly version?: string; readonly namespace?: string } = {},
  ): Promise<void> {
    const encoded = Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    );
    const metadata = { name, namespace };
    const found = this.api.put({ apiVersion: "v1", kind: "Secret", metadata, data: encoded } as KubeObject);
    const object =
      version === undefined ? found : { ...found, metadata: { ...found.metadata, resourceVersion: version } };
    if (isReported) await this.report(object);
  }

  async report(object: KubeObject): Promise<void> {
    const line = `${JSON.stringify({ type: "MODIFIED", object })}\n`;
    const { namespace = "", name } = object.metadata;
    for (const send of this.watches.get(watchKey(namespace, name)) ?? []) send(line);
    await this.system.advance(0);
  }

  /** The next step of this sort fails. */
  failNext(step: "mount" | "unmount" | "read"): void {
    if (step === "mount") this.tmpfs.failsNext = true;
    if (step === "unmount") this.tmpfs.failsNextUnmount = true;
    if (step !== "read") return;
    this.api.beforeRead = () => {
      this.api.beforeRead = () => undefined;
      throw apiError("transient");
    };
  }

  /** Nothing newer may be had, because of this; gives what ends it. */
  refuse(why: "noAnswer" | "noPermission"): () => void {
    if (why === "noPermission") {
      this.denied.add("s");
      return () => {
        this.denied.clear();
      };
    }
    const response = this.api.respondRaw;
    this.api.respondRaw = () => {
      throw apiError("transient");
    };
    return () => {
      this.api.respondRaw = response;
    };
  }

  target(id: string): string {
    return join(this.directory, "pods", id, "mount");
  }

  /** Requests a volume; gives what was thrown. */
  async publish(id: string, shares: readonly string[] = ["s"], pod = id): Promise<unknown> {
    const request = {
      volumeId: id,
      target: this.target(id),
      mode: 0o644,
      shares,
      pod: { namespace: "app", name: pod, uid: pod, serviceAccount: "default" },
    };
    const requested = this.volumes
      .publish(() => request)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    await this.system.advance(0);
    return await requested;
  }

  /** A request that is cut off with the driver. */
  async publishAndKill(id: string): Promise<void> {
    this.tmpfs.hangsNext = true;
    const request = {
      volumeId: id,
      target: this.target(id),
      mode: 0o644,
      shares: ["s"],
      pod: { namespace: "app", name: id, uid: id, serviceAccount: "default" },
    };
    void this.volumes.publish(() => request);
    await this.system.advance(0);
    await this.restart();
  }

  /** Another life of the driver over the same node. */
  async restart(): Promise<void> {
    this.#stop.abort();
    this.volumes.stop();
    this.#stop = new AbortController();
    this.watches.clear();
    this.volumes = this.#start();
    await this.volumes.recover();
    await this.system.advance(0);
  }

  read(id: string): Readonly<Record<string, string>> {
    const directory = join(this.target(id), "..data");
    if (!existsSync(directory)) return {};
    return Object.fromEntries(
      readdirSync(directory)
        .toSorted()
        .map((name) => [name, readFileSync(join(directory, name), "utf8")]),
    );
  }

  records(): readonly string[] {
    return this.#recordFiles().map(({ volumeId, phase }) => `${volumeId} ${phase}`);
  }

  /** What is on record of the Shares of a volume. */
  recordedSources(id: string): VolumeRecord["sources"] {
    return this.#recordFiles().find(({ volumeId }) => volumeId === id)?.sources ?? [];
  }

  #recordFiles(): readonly VolumeRecord[] {
    const directory = join(this.directory, "records");
    return readdirSync(directory).map(
      (name) => JSON.parse(readFileSync(join(directory, name), "utf8")) as VolumeRecord,
    );
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.volumes.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #start(): Volumes {
    return new Volumes({
      client: this.api.client,
      transport: this.#transport(),
      system: this.system,
      log: silentLog,
      tmpfs: this.tmpfs,
      recordDirectory: join(this.directory, "records"),
      signal: this.#stop.signal,
      metrics: {
        published: (result) => this.published.push(result),
        unpublished: () => undefined,
        refreshed: (result) => this.refreshed.push(result),
      },
    });
  }

  #transport(): Transport {
    const openStream = async (path: string, { signal }: { readonly signal: AbortSignal }) => {
      await Promise.resolve();
      const { pathname, searchParams } = new URL(path, "http://x");
      const name = searchParams.get("fieldSelector")?.replace("metadata.name=", "") ?? "";
      return { body: this.#lines(watchKey(pathname.split("/")[4] ?? "", name), signal) };
    };
    return { openStream } as unknown as Transport;
  }

  async *#lines(name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const queue: string[] = [];
    let wake = Promise.withResolvers<undefined>();
    const send = (line: string): void => {
      queue.push(line);
      wake.resolve(undefined);
    };
    const open = this.watches.get(name) ?? new Set();
    this.watches.set(name, open.add(send));
    signal.addEventListener("abort", () => {
      open.delete(send);
      wake.resolve(undefined);
    });
    while (!signal.aborted) {
      for (let line = queue.shift(); line !== undefined; line = queue.shift()) yield Buffer.from(line);
      await wake.promise;
      wake = Promise.withResolvers<undefined>();
    }
  }
}

function watchKey(namespace: string, name: string): string {
  return namespace === "home" ? name : `${namespace}/${name}`;
}
