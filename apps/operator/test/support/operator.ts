import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

import { eventually } from "@quartermaster/testkit";

const main = join(import.meta.dirname, "../../src/main.ts");

/** Where our kinds are served. */
export const plans = "/apis/install.quartermaster.dev/v1alpha1";

/** An operator as a user starts it, with what it wrote. */
export class Operator implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  output = "";

  constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        this.output += chunk;
      });
    this.#ended = new Promise((resolve) => this.#child.once("exit", resolve));
  }

  async port(): Promise<number> {
    return await eventually(() => Number(/"metricsPort":(\d+)/.exec(this.output)?.[1] ?? 0) || undefined);
  }

  async end(signal?: "SIGTERM"): Promise<number | null> {
    if (signal !== undefined) this.#child.kill(signal);
    return await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}
