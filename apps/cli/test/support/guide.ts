import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";

import { eventually } from "@quartermaster/testkit";
import { expect } from "vitest";

/** The directory in which people type the commands of the guides. */
export const repository: string = join(import.meta.dirname, "../../../..");

/** One command of a guide, and what a user must see after it. */
export interface Step {
  readonly line: string;
  /** Default: 0. */
  readonly code?: number;
  readonly says?: RegExp;
  /** What the page shows as its output; see `isShown`. */
  readonly shows?: string | undefined;
}

export interface Typed {
  readonly code: number;
  readonly output: string;
}

interface Block {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a page. */
export function fencesOf(page: string): readonly Block[] {
  return [...readPage(page).matchAll(/^```(\S*)\n([^]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text: text.trimEnd(),
  }));
}

/** The `sh` blocks of a guide. */
export function blocksOf(guide: string): readonly string[] {
  return fencesOf(guide).flatMap(({ language, text }) => (language === "sh" ? [text] : []));
}

/** The commands of a guide: every line of its `sh` blocks. */
export function commandsOf(guide: string): readonly string[] {
  return blocksOf(guide).flatMap((block) => block.split("\n"));
}

/** The steps, each with the output that the page shows for it: a `text` block belongs to the last command before it. */
export function withOutputs(page: string, steps: readonly Step[]): readonly Step[] {
  const fences = fencesOf(page).filter(({ language }) => language === "sh" || language === "text");
  const shown = fences.flatMap(({ language, text }, at) => {
    if (language === "text") return [];
    const lines = text.split("\n");
    const output = fences[at + 1]?.language === "text" ? fences[at + 1]?.text : undefined;
    return lines.map((line, index) => ({ line, output: index === lines.length - 1 ? output : undefined }));
  });
  let next = 0;
  return steps.map((step) => {
    const at = shown.findIndex(({ line }, index) => index >= next && line === step.line);
    if (at === -1) return step;
    next = at + 1;
    return { ...step, shows: shown[at]?.output };
  });
}

export function outputIn(page: string, line: string): string {
  return withOutputs(page, [{ line }])[0]?.shows ?? "";
}

/**
 * Whether the output is what a page shows. `…` stands for any text in its line, and for any number of lines where it stands alone; ages
 * and widths of columns may differ.
 */
export function isShown(printed: string, shown: string): boolean {
  const lines = shown.trimEnd().split("\n");
  const pattern = lines.map((line) => (line === "…" ? String.raw`(?:.*\n)*?` : `${patternOf(line)} *\n`));
  return new RegExp(`^${pattern.join("")}$`).test(`${printed.trimEnd()}\n`);
}

function patternOf(line: string): string {
  return line
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll("…", ".*")
    .replaceAll(/(?<=^| )\d+[smhd](?= |$)/g, String.raw`(?:\d+[smhd])+(?: \(x\d+ over \w+\))?`)
    .replaceAll(/(?<=\S) {2,}/g, " {2,}");
}

/** A page of the guides, or the README. */
export function readPage(page: string): string {
  const path = page.startsWith("README") ? page : join("docs/guides", page);
  return readFileSync(join(repository, path), "utf8");
}

/** Types a line into a shell in the repository's directory. */
export async function typeLine(
  line: string,
  env: Readonly<Record<string, string>>,
  directory = repository,
): Promise<Typed> {
  const child = spawn("/bin/sh", ["-c", `exec 2>&1\n${line}`], {
    cwd: directory,
    // What npm has to say about its own configuration is not the command's.
    env: { ...process.env, npm_config_loglevel: "error", ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  child.once("close", (code) => resolve(code ?? 1));
  const printed = await textOf(child.stdout);
  return { code: await promise, output: printed };
}

/** Follows a page: its commands are those of the steps, and they print what it shows. Returns how many there are. */
export async function followPage(
  page: string,
  steps: readonly Step[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  expect(commandsOf(page)).toEqual(steps.map(({ line }) => line));
  await follow(withOutputs(page, steps), env);
  return steps.length;
}

/** Where commands are typed, and how what they print is read. */
interface Location {
  readonly directory?: string;
  readonly read?: (printed: string) => string;
}

/** Follows the steps in order. What only reads is typed again until it shows what it must: an engine is looked at each 30 s. */
export async function follow(
  steps: readonly Step[],
  env: Readonly<Record<string, string>>,
  { directory = repository, read = (printed) => printed }: Location = {},
): Promise<void> {
  for (const { line, code = 0, says = /^/, shows = "…" } of steps) {
    const isReading = / get | events | (?:plan|search) (?:status|diff|explain|plan) /.test(line);
    const attempt = async (see: (state: object) => object): Promise<boolean> => {
      const { code: ended, output: printed } = await typeLine(line, env, directory);
      const typed = { code: ended, output: read(printed) };
      see({ line, wanted: { code, says: says.source, shows }, typed });
      return typed.code === code && says.test(typed.output) && isShown(typed.output, shows);
    };
    await eventually(attempt, { withinMs: isReading ? 60_000 : 0 });
  }
}
