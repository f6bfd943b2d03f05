import { readFileSync, statfsSync } from "node:fs";
import { request } from "node:http";
import { dirname } from "node:path";

import { z } from "zod";

import { LocalClusterError } from "../errors.ts";
import { launch, type LaunchRequest, type RunningProcess } from "../process/launch.ts";
import type { System } from "../system/system.ts";

/** A part of the cluster that runs as a process of its own and can be killed and brought back by a test. */
export interface ComponentHandle {
  readonly name: string;
  readonly pid: number;
  readonly logPath: string;
  isRunning(): boolean;
  /** SIGKILL; resolves once the process no longer exists. */
  kill(): Promise<void>;
  /** Starts it again with the same arguments and waits until it responds. Kills it first if it runs. */
  restart(): Promise<void>;
}

/** Whether the component responds yet. */
export type ReadinessProbe = (signal: AbortSignal) => Promise<boolean>;

export interface ComponentOptions {
  readonly launchRequest: LaunchRequest;
  readonly isReady: ReadinessProbe;
  /** How long it may take until it responds (default: a minute): a slow machine is not a broken one. */
  readonly readyWithinMs?: number;
  readonly system: System;
}

/** A launched component. Call `ready` once after making it. */
export class Component implements ComponentHandle {
  readonly #options: ComponentOptions;
  #process: RunningProcess;

  constructor(options: ComponentOptions) {
    this.#options = options;
    this.#process = launch(options.launchRequest, options.system);
  }

  get name(): string {
    return this.#options.launchRequest.name;
  }

  get pid(): number {
    return this.#process.pid;
  }

  get logPath(): string {
    return this.#process.logPath;
  }

  isRunning(): boolean {
    return this.#process.isRunning();
  }

  async kill(): Promise<void> {
    this.#process.signal("SIGKILL");
    await this.#process.gone(10_000);
  }

  async restart(): Promise<void> {
    await this.kill();
    this.#process = launch(this.#options.launchRequest, this.#options.system);
    await this.ready();
  }

  /** Waits until the component responds; throws as soon as it has exited, or when it takes too long. */
  async ready(signal?: AbortSignal): Promise<void> {
    const { isReady, readyWithinMs = 60_000, system } = this.#options;
    const limit = AbortSignal.timeout(readyWithinMs);
    const stop = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    while (!(await isReady(stop))) {
      signal?.throwIfAborted();
      if (!this.isRunning()) throw exitedError(this.name, this.logPath);
      if (limit.aborted) throw notReadyError(this.name, this.logPath, readyWithinMs);
      await system.sleep(POLL_MS);
    }
  }
}

/** An API server: a component with an address. */
export class ApiServer extends Component {
  readonly url: string;

  constructor(options: ComponentOptions, url: string) {
    super(options);
    this.url = url;
  }
}

const POLL_MS = 25;

/** Why a component ended, read off the end of its log: the machine's faults get their own code and remedy. */
function exitedError(name: string, logPath: string): LocalClusterError {
  const log = readLog(logPath);
  // A full disk takes the log with it, so the disk itself is checked as well.
  if (
    /no space left on device|disk quota exceeded/i.test(log) ||
    freeBytes(dirname(logPath)) < FULL_BELOW_BYTES
  ) {
    return new LocalClusterError(
      "StateFolderFull",
      `${name} stopped: no space is left for the cluster's state (${logPath}).`,
      "Free some space, or choose another directory.",
    );
  }
  if (/address already in use/i.test(log)) {
    return new LocalClusterError(
      "PortTaken",
      `${name} stopped: its port is taken by another process.`,
      "Stop that process, or choose another port.",
    );
  }
  return new LocalClusterError(
    "ComponentExited",
    `${name} stopped while it started; its log ${logPath} ends with:\n${lastLines(log)}\n`,
    "Mend what the log names and start again.",
  );
}

function notReadyError(name: string, logPath: string, readyWithinMs: number): LocalClusterError {
  return new LocalClusterError(
    "NotReadyInTime",
    `${name} did not respond within ${readyWithinMs / 1000} s; its log ${logPath} ends with:\n${lastLines(readLog(logPath))}\n`,
    "Check what else keeps the machine busy and start again.",
  );
}

const FULL_BELOW_BYTES = 4096 * 16;

function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

function lastLines(log: string): string {
  return log
    .trimEnd()
    .split("\n")
    .slice(-8)
    .map((line) => line.slice(0, 400))
    .join("\n");
}

function readLog(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return `(no log: ${String(error)})`;
  }
}

/** The cluster's etcd, with the one thing tests do to it besides killing it. */
export interface EtcdHandle extends ComponentHandle {
  readonly socketPath: string;
  /** Forgets all history up to now: a watch from an older resourceVersion gets 410 Gone. */
  compact(): Promise<void>;
}

const rangeResponse = z.object({ header: z.object({ revision: z.string() }) });

/** etcd as a process that can also be compacted. */
export class Etcd extends Component implements EtcdHandle {
  readonly socketPath: string;

  constructor(options: ComponentOptions, socketPath: string) {
    super(options);
    this.socketPath = socketPath;
  }

  async compact(): Promise<void> {
    const range = await callEtcd(this.socketPath, "/v3/kv/range", { body: { key: "AA==" } });
    const { header } = rangeResponse.parse(JSON.parse(range));
    await callEtcd(this.socketPath, "/v3/kv/compaction", {
      body: { revision: header.revision, physical: true },
    });
  }
}

/** True once etcd has a leader and takes writes. */
export async function isEtcdHealthy(socketPath: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await callEtcd(socketPath, "/health", { signal })).includes('"health":"true"');
  } catch {
    // Not listening yet; the caller queries again and watches the process itself.
    return false;
  }
}

async function callEtcd(
  socketPath: string,
  path: string,
  { body, signal }: { readonly body?: unknown; readonly signal?: AbortSignal } = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = {
    socketPath,
    path,
    method: body === undefined ? "GET" : "POST",
    signal,
  };
  const sent = request(options, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    response.on("end", () =>
      response.statusCode === 200
        ? resolve(text)
        : reject(new Error(`etcd responded ${response.statusCode} to ${path}: ${text}`)),
    );
  });
  sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  return await promise;
}
