import { type Client, classify, type KubeObject } from "@quartermaster/runtime";

import type { DriverMetrics } from "../driver-metrics.ts";
import type { Tmpfs } from "../files/tmpfs.ts";
import { type VolumeRecord, VolumeRecords } from "../files/volume-records.ts";
import { readPayload, writePayload } from "../files/write-payload.ts";
import { BackingWatches } from "../follow/backing-watches.ts";
import type { WatchEnvironment } from "../follow/object-watch.ts";
import { sizeOf } from "../payload.ts";
import { Refusal, type RefusalReason } from "../refusal.ts";
import { decidePublish, type PublishDecision } from "./decide-publish.ts";
import { changedSources, decideRefresh, type NewestSource, type RefreshDecision } from "./decide-refresh.ts";
import { KeyedLock } from "./keyed-lock.ts";
import { assertNodeRoom, type VolumeUse } from "./node-room.ts";
import { observeAccess, observeVolume } from "./observe-volume.ts";
import { RefreshRetries } from "./refresh-retries.ts";
import { SingleFlight } from "./single-flight.ts";
import type { VolumeRequest } from "./volume-request.ts";

export interface VolumesOptions extends WatchEnvironment {
  readonly client: Client;
  readonly tmpfs: Tmpfs;
  /** Directory of the records; it outlives the driver. */
  readonly recordDirectory: string;
  readonly metrics: DriverMetrics;
  /** Aborts when the driver stops. */
  readonly signal: AbortSignal;
}

/**
 * The volumes of this node. Each call reads facts, decides, and then acts. Calls for one volume come one after the other.
 *
 * A volume keeps following the objects that its Shares named when it was published. When a Share is deleted or names another object, or when
 * the permission is revoked, running pods keep the files they have and get no newer content (security/117).
 */
export class Volumes {
  readonly #options: VolumesOptions;
  readonly #records: VolumeRecords;
  readonly #watches: BackingWatches;
  readonly #lock = new KeyedLock();
  readonly #questions = new SingleFlight();
  readonly #retries: RefreshRetries;
  /** Volumes that are published or being published, with what they hold. */
  readonly #uses = new Map<string, VolumeUse>();
  readonly #volumes = new Map<string, VolumeRecord>();

  constructor(options: VolumesOptions) {
    this.#options = options;
    this.#records = new VolumeRecords(options.recordDirectory, options.log);
    this.#watches = new BackingWatches({
      ...options,
      onChange: (volumeId) => {
        void this.#refresh(volumeId);
      },
    });
    this.#retries = new RefreshRetries(options.system, (volumeId) => {
      void this.#refresh(volumeId);
    });
  }

  /** Volumes that are published now. */
  get size(): number {
    return this.#volumes.size;
  }

  /** Objects that are followed now. */
  get followedObjects(): number {
    return this.#watches.size;
  }

  /** Ends the watches. What is mounted stays. */
  stop(): void {
    this.#retries.stop();
    this.#watches.stop();
  }

  /** Takes up the volumes of the driver's former life. What was cut off in the middle is removed: kubelet begins again. */
  async recover(): Promise<void> {
    const { tmpfs, log } = this.#options;
    for (const record of this.#records.all()) {
      const isWhole = record.phase === "published" && tmpfs.isMounted(record.target);
      if (isWhole) this.#adopt(record);
      else await this.#discard(record);
    }
    log.info("volumes recovered", { volumes: this.#volumes.size });
  }

  /**
   * Mounts a volume with its content. Does nothing when it is there already. Throws a Refusal, and then leaves nothing behind;
   * `readRequest` may throw one too, so that every refusal is counted and logged here.
   */
  async publish(readRequest: () => VolumeRequest): Promise<void> {
    const { system, metrics, log } = this.#options;
    const startMs = system.monotonicMs();
    let request: VolumeRequest | undefined;
    try {
      request = readRequest();
      await this.#publishOnce(request);
      metrics.published("Published", (system.monotonicMs() - startMs) / 1000);
    } catch (error) {
      const reason = reasonOf(error);
      metrics.published(reason, (system.monotonicMs() - startMs) / 1000);
      log.warn("publish refused", { ...(request && factsOf(request)), reason, err: error });
      throw error;
    }
  }

  /** Unmounts a volume and forgets it. Does nothing when it is already deleted. */
  async unpublish(volumeId: string, target: string): Promise<void> {
    const { tmpfs, log, metrics } = this.#options;
    await this.#lock.run(volumeId, async () => {
      await tmpfs.unmount(target);
      this.#watches.unfollow(volumeId);
      this.#retries.forget(volumeId);
      this.#volumes.delete(volumeId);
      this.#uses.delete(volumeId);
      this.#records.remove(volumeId);
    });
    metrics.unpublished();
    log.info("unpublished", { volumeId });
  }

  async #publishOnce(request: VolumeRequest): Promise<void> {
    await this.#lock.run(request.volumeId, async () => {
      if (!this.#isPublished(request)) await this.#publishNew(request);
    });
  }

  /** kubelet may ask again, e.g. after its own restart; permissions were checked when the volume was made. */
  #isPublished({ volumeId, target, shares, mode }: VolumeRequest): boolean {
    const record = this.#volumes.get(volumeId);
    if (record === undefined || !this.#options.tmpfs.isMounted(record.target)) return false;
    const isSame =
      record.target === target &&
      record.mode === mode &&
      record.sources.map(({ share }) => share).join() === shares.join();
    if (!isSame)
      throw new Refusal("InvalidRequest", "the volume is published already, with other attributes");
    return true;
  }

  async #publishNew(request: VolumeRequest): Promise<void> {
    const { client, signal, log } = this.#options;
    const seen = await observeVolume(request, { client, signal, questions: this.#questions });
    const decision = decidePublish(request.pod, seen);
    this.#watches.assertRoomFor(decision.sources.map(({ backing }) => backing));
    const { volumeId, target, mode, pod } = request;
    const sizeBytes = sizeOf(decision.payload);
    const record = { volumeId, target, mode, pod, sizeBytes, sources: decision.sources };
    this.#reserve(record);
    try {
      await this.#perform(record, decision);
    } catch (error) {
      this.#uses.delete(volumeId);
      throw error;
    }
    this.#adopt(
      { ...record, phase: "published" },
      seen.map(({ object }) => object),
    );
    log.info("published", factsOf(request));
  }

  /** Takes the room of a volume before anything is awaited: volumes are made beside each other. */
  #reserve({ volumeId, pod, sizeBytes }: Omit<VolumeRecord, "phase">): void {
    const others = [...this.#uses].filter(([id]) => id !== volumeId).map(([, use]) => use);
    assertNodeRoom({ pod, sizeBytes }, others);
    this.#uses.set(volumeId, { pod, sizeBytes });
  }

  /** The record comes before the mount: whenever we are cut off, there is something that says what to clean up. */
  async #perform(record: Omit<VolumeRecord, "phase">, { payload }: PublishDecision): Promise<void> {
    const { tmpfs } = this.#options;
    const { target, mode } = record;
    await tmpfs.unmount(target); // left by an attempt that was cut off
    this.#records.write({ ...record, phase: "publishing" });
    try {
      await tmpfs.mount(target);
      writePayload(target, payload, { mode, version: this.#version() });
      this.#records.write({ ...record, phase: "published" });
    } catch (error) {
      await this.#discard(record);
      throw error;
    }
  }

  async #discard({ volumeId, target }: Pick<VolumeRecord, "volumeId" | "target">): Promise<void> {
    await this.#options.tmpfs.unmount(target);
    this.#records.remove(volumeId);
  }

  /** A change that was seen after the caller's read and before this is made up for by a refresh, as is what happened before a restart. */
  #adopt(record: VolumeRecord, objects: readonly (KubeObject | undefined)[] = []): void {
    this.#volumes.set(record.volumeId, record);
    this.#uses.set(record.volumeId, record);
    const isNewest = record.sources.map(({ backing }, index) => {
      const object = objects[index];
      this.#watches.follow(record.volumeId, backing, object);
      const newest = this.#watches.newest(backing)?.metadata.resourceVersion;
      return object !== undefined && newest === object.metadata.resourceVersion;
    });
    if (isNewest.includes(false)) void this.#refresh(record.volumeId);
  }

  /** Brings the newest content to a volume. Whatever is wrong with it, the content that is there stays, and it is tried again. */
  async #refresh(volumeId: string): Promise<void> {
    const { metrics, log } = this.#options;
    try {
      const decision = await this.#lock.run(volumeId, async () => await this.#writeNewest(volumeId));
      if (decision === undefined) return;
      if (decision.denied.length === 0) this.#retries.forget(volumeId);
      else this.#retries.schedule(volumeId);
      metrics.refreshed("Refreshed");
      log.info("refreshed", { volumeId, denied: decision.denied });
    } catch (error) {
      if (this.#volumes.has(volumeId)) this.#retries.schedule(volumeId);
      metrics.refreshed(reasonOf(error));
      log.warn("refresh refused", { volumeId, reason: reasonOf(error), err: error });
    }
  }

  async #writeNewest(volumeId: string): Promise<RefreshDecision | undefined> {
    const record = this.#volumes.get(volumeId);
    if (record === undefined || !this.#options.tmpfs.isMounted(record.target)) return undefined;
    const newest = record.sources.flatMap((source): readonly NewestSource[] => {
      const object = this.#watches.newest(source.backing);
      return object === undefined ? [] : [{ source, object }];
    });
    // After a restart an object may not have been seen yet, or never again: what it contributed must not vanish.
    if (newest.length < record.sources.length) return undefined;
    const changed = changedSources(newest);
    if (changed.length === 0) return undefined;
    // After the newest state was read: content that is newer than the review waits for the next one.
    const access = await Promise.all(
      changed.map(
        async ({ share }) =>
          await observeAccess(share, record.pod, { ...this.#options, questions: this.#questions }),
      ),
    );
    const held = readPayload(
      record.target,
      record.sources.flatMap(({ keys }) => keys),
    );
    const decision = decideRefresh({ newest, access, held });
    this.#writeRefreshed(record, decision);
    return decision;
  }

  /** The record names the files of both contents before they change: whenever the driver is killed, it knows what a Share contributed. */
  #writeRefreshed(former: VolumeRecord, { sources, payload }: RefreshDecision): void {
    const record = { ...former, sources, sizeBytes: sizeOf(payload) };
    this.#reserve(record);
    this.#records.write({
      ...former,
      sources: former.sources.map((source, index) => ({
        ...source,
        keys: [...new Set([...source.keys, ...(sources[index]?.keys ?? [])])],
      })),
    });
    writePayload(record.target, payload, { mode: record.mode, version: this.#version() });
    this.#records.write(record);
    this.#volumes.set(record.volumeId, record);
  }

  #version(): string {
    const { system } = this.#options;
    const time = new Date(system.wallMs()).toISOString().replaceAll(/\D/g, "_");
    return `${time}.${system.uuid().slice(0, 8)}`;
  }
}

function factsOf({ volumeId, pod, shares }: VolumeRequest): Readonly<Record<string, unknown>> {
  const { namespace, name, serviceAccount } = pod;
  return { volumeId, namespace, pod: name, serviceAccount, shares };
}

function reasonOf(error: unknown): RefusalReason {
  if (error instanceof Refusal) return error.reason;
  return classify(error) === "aborted" ? "Unavailable" : "Internal";
}
