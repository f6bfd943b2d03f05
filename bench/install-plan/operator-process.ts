import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";

import { eventually } from "@quartermaster/testkit";

import { type ProcessUsage, usageOf } from "../process-usage.ts";
import { operatorFlags } from "../runtime/contestant.ts";
import { tie } from "../tied-child.ts";

/** The operator in a process of its own, with the permissions that we ship. */
export class OperatorProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  readonly #port: number;

  constructor({ program, kubeconfigPath, directory }: OperatorStart) {
    this.#port = 20_000 + (process.pid % 20_000);
    const log = openSync(join(directory, "operator.log"), "a");
    const metrics = ["--metrics-host", "127.0.0.1", "--metrics-port", String(this.#port)];
    const args = [...operatorFlags, program, "--kubeconfig", kubeconfigPath, ...metrics];
    this.#child = tie(spawn(process.execPath, args, { stdio: ["ignore", log, log] }));
    this.#gone = new Promise((resolve) => this.#child.once("exit", resolve));
  }

  /** Resolves when its stores are filled. */
  async ready(): Promise<void> {
    await eventually(async () => (await fetch(`http://127.0.0.1:${this.#port}/readyz`)).ok);
  }

  /** How many reconciles it has made of plans, however they ended. */
  async reconciles(): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.#port}/metrics`)).text();
    const lines = text.split("\n").filter((line) => line.startsWith("controller_runtime_reconcile_total{"));
    return lines
      .filter((line) => line.includes('controller="installplans"'))
      .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  usage(): ProcessUsage {
    const usage = usageOf(this.#child.pid);
    if (usage === undefined) throw new Error("the operator has ended; see operator.log");
    return usage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#gone;
  }
}

export interface OperatorStart {
  readonly program: string;
  readonly kubeconfigPath: string;
  /** For its log. */
  readonly directory: string;
}
