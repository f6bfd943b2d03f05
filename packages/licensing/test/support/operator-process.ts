import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Access } from "@quartermaster/testkit";

const main = new URL("../../../../apps/operator/src/main.ts", import.meta.url).pathname;

/** An operator in a process of its own, that can really be killed. */
export class OperatorProcess implements AsyncDisposable {
  readonly #args: readonly string[];
  readonly #folder: string;
  #child: ChildProcess | undefined;

  private constructor(args: readonly string[], folder: string) {
    this.#args = args;
    this.#folder = folder;
  }

  /** Starts the operator program against an API server, or a proxy in front of one. */
  static async launch({ server, caPem, token }: Access, flags: readonly string[]): Promise<OperatorProcess> {
    const folder = await mkdtemp(path.join(tmpdir(), "qm-licensing-"));
    const kubeconfig = path.join(folder, "kubeconfig");
    const cluster = { server, "certificate-authority-data": Buffer.from(caPem).toString("base64") };
    const content = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "tests",
      clusters: [{ name: "tests", cluster }],
      users: [{ name: "tests", user: { token } }],
      contexts: [{ name: "tests", context: { cluster: "tests", user: "tests" } }],
    };
    await writeFile(kubeconfig, JSON.stringify(content));
    const fixed = ["--kubeconfig", kubeconfig, "--metrics-port", "0", "--metrics-host", "127.0.0.1"];
    const operator = new OperatorProcess([main, ...fixed, ...flags], folder);
    operator.start();
    return operator;
  }

  /** Starts it, again if need be. */
  start(): void {
    this.#child = spawn(process.execPath, [...this.#args], { stdio: "ignore" });
  }

  /** SIGKILL, at once. */
  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  /** Resolves when it has ended. */
  async ended(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await once(child, "exit");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.ended();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
