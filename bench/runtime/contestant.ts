import { type ChildProcessByStdio, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import * as z from "zod";

import { type ProcessUsage, usageOf } from "../process-usage.ts";
import { tie } from "../tied-child.ts";

/** What a contestant said: a word with figures. */
export interface Output {
  readonly message: string;
  readonly [metric: string]: unknown;
}

/** How to start a contestant. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Instead of ours. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
}

/**
 * How an operator's process is started: young objects get 4 MB at a time, and a burst of 10,000 pods no longer peaks at three
 * times what is kept. docs/decisions/0008 has the measurements.
 */
export const operatorFlags: readonly string[] = ["--max-semi-space-size=4"];

/** One of ours, run unbuilt. `name` is the file in bench/contestants. */
export function contestantProgram(name: string, ...args: readonly string[]): Program {
  const file = join(import.meta.dirname, "../contestants", `${name}.ts`);
  return { command: process.execPath, args: [file, ...args] };
}

/** The same, started as an operator is. */
export function operatorProgram(name: string, ...args: readonly string[]): Program {
  const { command, args: rest } = contestantProgram(name, ...args);
  return { command, args: [...operatorFlags, ...rest] };
}

/** A contestant in a process of its own, so that processor time and memory are its own too. */
export class Contestant implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #output: Output[] = [];
  readonly #listeners: (() => void)[] = [];
  readonly #ended: Promise<number>;
  #code: number | undefined;
  readonly startedMs = performance.now();

  constructor({ command, args, env = process.env }: Program) {
    this.#child = tie(spawn(command, [...args], { stdio: ["pipe", "pipe", "inherit"], env }));
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      this.#output.push(outputSchema.parse(JSON.parse(line)));
      this.#wake();
    });
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#ended = promise;
    this.#child.on("exit", (code) => {
      this.#code = code ?? 1;
      resolve(this.#code);
      this.#wake();
    });
  }

  /** The next thing it says; throws when it ends first. */
  async hear(): Promise<Output> {
    for (;;) {
      const output = this.#output.shift();
      if (output !== undefined) return output;
      if (this.#code !== undefined) throw new Error(`a contestant ended with ${this.#code}`);
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
  }

  /** Gives an order and waits for the response. */
  async request(order: string): Promise<Output> {
    this.order(order);
    return await this.hear();
  }

  order(order: string): void {
    this.#child.stdin.write(`${order}\n`);
  }

  /** As the kernel counts it; processor time in steps of 10 ms. */
  usage(): ProcessUsage {
    const usage = usageOf(this.#child.pid);
    if (usage === undefined) throw new Error("a contestant has ended");
    return usage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #wake(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

const outputSchema = z.looseObject({ message: z.string() });

/** A figure that was said. */
export function metric(output: Output, name: string): number {
  return z.number().parse(output[name]);
}
