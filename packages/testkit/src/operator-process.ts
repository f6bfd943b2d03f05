import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { inject } from "vitest";

import type { Access } from "./connect.ts";

/** An operator in a process of its own, that can really be killed. */
export interface OperatorProcess extends AsyncDisposable {
  /** Everything it has written to its log. */
  readonly output: string;
  /** The most memory that it has held at a time, as the kernel counts it. */
  peakBytes(): number;
  /** SIGKILL, immediately. */
  kill(): void;
  /** SIGTERM: asks it to end. */
  terminate(): void;
  /** Undefined while it runs; null when a signal ended it. */
  readonly exitCode: number | null | undefined;
  /** Starts it, again if need be. */
  start(): void;
  /** Resolves when it has ended. */
  ended(): Promise<void>;
}

/** File of the operator as its image has it, made once for each run of the integration level. */
export function operatorProgram(): string {
  return inject("operatorProgram");
}

/** How the operator is started. */
export interface OperatorProcessOptions {
  /** Variables that are added to ours. */
  readonly env?: Readonly<Record<string, string>>;
  /** File with another program (default: the operator as its image has it). */
  readonly program?: string;
}

/** Starts the operator program against an API server, or a proxy in front of one. */
export async function startOperator(
  access: Access,
  flags: readonly string[],
  { env = {}, program = operatorProgram() }: OperatorProcessOptions = {},
): Promise<OperatorProcess> {
  const directory = await mkdtemp(path.join(tmpdir(), "qm-operator-"));
  const kubeconfigPath = path.join(directory, "kubeconfig");
  await writeFile(kubeconfigPath, kubeconfigOf(access));
  const operator = new Operator(
    // As deploy/ starts it (decision 0008), with the heap that V8 allows itself in a container of 512 MiB, the limit there.
    [
      "--max-semi-space-size=4",
      "--max-old-space-size=256",
      program,
      "--kubeconfig",
      kubeconfigPath,
      "--metrics-port",
      "0",
      "--metrics-host",
      "127.0.0.1",
      ...flags,
    ],
    { directory, env },
  );
  operator.start();
  return operator;
}

class Operator implements OperatorProcess {
  readonly #args: readonly string[];
  readonly #directory: string;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #output = "";

  constructor(
    args: readonly string[],
    { directory, env }: { readonly directory: string; readonly env: Readonly<Record<string, string>> },
  ) {
    this.#args = args;
    this.#directory = directory;
    this.#env = env;
  }

  get output(): string {
    return this.#output;
  }

  peakBytes(): number {
    const status = readFileSync(`/proc/${this.#child?.pid}/status`, "utf8");
    return 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]);
  }

  start(): void {
    const child = spawn(process.execPath, [...this.#args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...this.#env },
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        this.#output += chunk.toString();
      });
    this.#child = child;
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  terminate(): void {
    this.#child?.kill("SIGTERM");
  }

  get exitCode(): number | null | undefined {
    const { exitCode, signalCode } = this.#child ?? {};
    return exitCode === null && signalCode === null ? undefined : exitCode;
  }

  async ended(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await once(child, "exit");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.ended();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** JSON is YAML. */
function kubeconfigOf({ server, caPem, token }: Access): string {
  const cluster = { server, "certificate-authority-data": Buffer.from(caPem).toString("base64") };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "tests",
    clusters: [{ name: "tests", cluster }],
    users: [{ name: "tests", user: { token } }],
    contexts: [{ name: "tests", context: { cluster: "tests", user: "tests" } }],
  });
}
