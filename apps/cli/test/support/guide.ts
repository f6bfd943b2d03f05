import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { eventually } from "@quartermaster/testkit";

/** The folder in which people type the commands of the guides. */
const repository: string = join(import.meta.dirname, "../../../..");

/** One command of a guide, and what a person must see after it. */
export interface Step {
  readonly line: string;
  /** Default: 0. */
  readonly code?: number;
  readonly says?: RegExp;
}

/** What a command line ended with. */
export interface Typed {
  readonly code: number;
  readonly said: string;
}

/** The `sh` blocks of a guide. */
export function blocksOf(guide: string): readonly string[] {
  const page = readFileSync(join(repository, "docs/guides", guide), "utf8");
  return [...page.matchAll(/```sh\n([^]*?)```/g)].map(([, block = ""]) => block.trimEnd());
}

/** The commands of a guide: every line of its `sh` blocks. */
export function commandsOf(guide: string): readonly string[] {
  return blocksOf(guide).flatMap((block) => block.split("\n"));
}

/** Types a line into a shell in the repository's folder. */
export async function typeLine(line: string, env: Readonly<Record<string, string>>): Promise<Typed> {
  const child = spawn("/bin/sh", ["-c", `exec 2>&1\n${line}`], {
    cwd: repository,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  child.once("close", (code) => resolve(code ?? 1));
  const said = await text(child.stdout);
  return { code: await promise, said };
}

/** Follows the steps in order. What only reads is typed again until it shows what it must: an engine is looked at each 30 s. */
export async function follow(steps: readonly Step[], env: Readonly<Record<string, string>>): Promise<void> {
  for (const { line, code = 0, says = /^/ } of steps) {
    const isReading = / get | events | (?:plan|search) (?:status|diff|explain|plan) /.test(line);
    const attempt = async (see: (state: object) => object): Promise<boolean> => {
      const typed = await typeLine(line, env);
      see({ line, wanted: { code, says: says.source }, typed });
      return typed.code === code && says.test(typed.said);
    };
    await eventually(attempt, { withinMs: isReading ? 60_000 : 0 });
  }
}
