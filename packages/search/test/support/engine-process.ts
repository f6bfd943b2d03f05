import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { eventually, provideEngineHome } from "@quartermaster/testkit";

const run = promisify(execFile);

/** Engines refuse to run as root; any other user will do. */
const engineUser = 1000;
const isRoot = process.getuid?.() === 0;

/** Small and quick to start; a few documents need no more. */
const leanFlags = [
  "-Xshare:auto",
  "-Xms384m",
  "-Xmx384m",
  "-XX:+UseSerialGC",
  "-XX:TieredStopAtLevel=1",
  "-Xss1m",
  "-Djava.awt.headless=true",
  "-Dfile.encoding=UTF-8",
  "-Djna.nosys=true",
  "-Dio.netty.noUnsafe=true",
  "-Dio.netty.noKeySetOptimization=true",
  "-Dio.netty.recycler.maxCapacityPerThread=0",
  "-Dio.netty.allocator.numDirectArenas=0",
  "-Dlog4j.shutdownHookEnabled=false",
  "-Dlog4j2.disable.jmx=true",
  "-Djava.locale.providers=SPI,COMPAT",
];

/** What is different between the two distributions when a process starts. */
const launches = {
  opensearch: { prefix: "opensearch", main: "org.opensearch.bootstrap.OpenSearch", extra: [] },
  elasticsearch: {
    prefix: "es",
    main: "org.elasticsearch.bootstrap.Elasticsearch",
    extra: ["-Des.distribution.flavor=default"],
  },
} as const;

/** A directory with an engine that another user can read, and one directory per node. Removed at the end. */
export class EngineHome implements AsyncDisposable {
  readonly distribution: keyof typeof launches;
  readonly directory: string;

  private constructor(distribution: keyof typeof launches, directory: string) {
    this.distribution = distribution;
    this.directory = directory;
  }

  get home(): string {
    return join(this.directory, "home");
  }

  /** The cache is its user's alone, so the engine is linked to where others may read it. */
  static async create(distribution: keyof typeof launches, version: string): Promise<EngineHome> {
    const report = (line: string): void => {
      process.stderr.write(`${line}\n`);
    };
    const cached = await provideEngineHome({ engine: distribution, version }, { report });
    const directory = await mkdtemp(join(tmpdir(), "qm-engine-"));
    await chmod(directory, 0o755);
    await run("cp", ["-al", cached, join(directory, "home")]);
    return new EngineHome(distribution, directory);
  }

  /** A directory that all nodes may write to. */
  async openDirectory(name: string): Promise<string> {
    const path = join(this.directory, name);
    await mkdir(path);
    if (isRoot) await chown(path, engineUser, engineUser);
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** One node as a process of its own on its own loopback address; its files outlive it. */
export class EngineProcess implements AsyncDisposable {
  readonly name: string;
  readonly #engine: EngineHome;
  #child: ChildProcess | undefined;

  constructor(engine: EngineHome, name: string) {
    this.#engine = engine;
    this.name = name;
  }

  get config(): string {
    return join(this.#directory, "config");
  }

  /** Writes the node's configuration: settings, and files by their name below the config directory. */
  async prepare(
    settings: Readonly<Record<string, unknown>>,
    files: Readonly<Record<string, string>>,
  ): Promise<void> {
    await cp(join(this.#engine.home, "config"), this.config, { recursive: true });
    for (const part of ["data", "logs", "tmp"]) await mkdir(join(this.#directory, part), { recursive: true });
    const all = {
      ...settings,
      "path.data": join(this.#directory, "data"),
      "path.logs": join(this.#directory, "logs"),
    };
    const lines = Object.entries(all).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
    await writeFile(join(this.config, `${this.#engine.distribution}.yml`), lines.join(""));
    await this.write(files);
    if (isRoot) await run("chown", ["-R", `${engineUser}:${engineUser}`, this.#directory]);
  }

  /** Puts files below the config directory. */
  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.config, name);
      await writeFile(path, text);
      if (isRoot) await chown(path, engineUser, engineUser);
    }
  }

  start(): void {
    const { prefix, main, extra } = launches[this.#engine.distribution];
    const { home } = this.#engine;
    const log = openSync(join(this.#directory, "output"), "a");
    const java = [
      ...leanFlags,
      `-Djava.io.tmpdir=${join(this.#directory, "tmp")}`,
      `-D${prefix}.path.home=${home}`,
      `-D${prefix}.path.conf=${this.config}`,
      `-D${prefix}.distribution.type=zip`,
      `-D${prefix}.bundled_jdk=false`,
      ...extra,
    ];
    // Dies with this process, in whatever way that ends.
    const user = isRoot ? [`--reuid=${engineUser}`, `--regid=${engineUser}`, "--clear-groups"] : [];
    const args = [...user, "--pdeathsig", "KILL", "java", ...java, "-cp", `${home}/lib/*`, main];
    // Elasticsearch looks for a place for native code there.
    const env = { ...process.env, LIBFFI_TMPDIR: join(this.#directory, "tmp") };
    this.#child = spawn("setpriv", args, { cwd: home, env, stdio: ["ignore", log, log] });
    closeSync(log);
  }

  /** Whether it ended although no one stopped it. */
  hasEnded(): boolean {
    return this.#child !== undefined && (this.#child.exitCode !== null || this.#child.signalCode !== null);
  }

  /** The end of its output. */
  async obituary(): Promise<Error> {
    const output = await readFile(join(this.#directory, "output"), "utf8");
    return new Error(`node ${this.name} has ended: ${output.slice(-3_000)}`);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const isFinished = once(child, "exit");
    child.kill("SIGKILL");
    await isFinished;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get #directory(): string {
    return join(this.#engine.directory, this.name);
  }
}

/** Longer than any wait takes on a busy machine. */
const withinMs = 180_000;

/** Looks until there is something, or a node has ended: no wait should last longer than the nodes. */
export async function untilSeen<T>(
  probe: () => Promise<T | undefined | false>,
  nodes: readonly EngineProcess[],
): Promise<T> {
  const seen = await eventually<{ readonly ended: EngineProcess } | { readonly value: T }>(
    async () => {
      const ended = nodes.find((node) => node.hasEnded());
      if (ended !== undefined) return { ended };
      const value = await probe();
      return value === undefined || value === false ? undefined : { value };
    },
    { withinMs, everyMs: 250 },
  );
  if ("ended" in seen) throw await seen.ended.obituary();
  return seen.value;
}

/** Address of a node: a block of loopback addresses per process, so that test files beside each other use others. */
export function nodeAddress(node: number): string {
  const { pid } = process;
  return `127.${String(64 + ((pid >> 8) & 63))}.${String(pid & 255)}.${String(node + 1)}`;
}
