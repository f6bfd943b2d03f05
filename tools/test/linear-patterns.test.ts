import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const files = globSync("{packages,apps}/*/src/**/*.ts", { cwd: root }).filter(
  (file) => !/(?:local-cluster|testkit|\.d\.ts)/.test(file),
);

/** A pattern as written in the code, where only a value can stand. */
const literal =
  /(?<=[(,=:?[{!&|]\s*|^\s*|return )\/(?<source>(?:\[(?:[^\]\\\n]|\\.)+\]|\\.|[^/*\\[\n])(?:\[(?:[^\]\\\n]|\\.)+\]|\\.|[^/\\[\n])*)\/(?<flags>[dgimsuvy]*)(?=[\s;,).\]])/gm;

const patterns = files.flatMap((file) =>
  [...readFileSync(resolve(root, file), "utf8").matchAll(literal)].map(({ groups = {} }) => ({
    file,
    text: `/${groups["source"] ?? ""}/${groups["flags"] ?? ""}`,
    pattern: new RegExp(groups["source"] ?? "", (groups["flags"] ?? "").replace("g", "")),
    isGlobal: (groups["flags"] ?? "").includes("g"),
  })),
);

/** Not linear, and never shown anything long or hostile. */
const exempt = new Map([
  [String.raw`/(?<amount>[\d.]+)(?<unit>ms|s|m|h)/g`, "after a check that leaves 84 characters"],
  [String.raw`/\/+$/`, "addresses of the kubeconfig"],
  ["/^-+|-+$/g", "200 characters of a name"],
  ["/[-.]+$/", "50 characters of a name"],
  ["/-+$/", "the beginning of a name"],
  [String.raw`/"(?<text>[^"\\]*(?:\\.[^"\\]*)*)"(?<colon>\s*:)?|[{}[\]]/g`, "text that is known to be JSON"],
]);

/** Long runs of what patterns repeat, with an end that none of them wants. */
const hostile: Readonly<Record<string, (length: number) => string>> = {
  letters: (length) => `${"a".repeat(length)}!`,
  digits: (length) => `${"1".repeat(length)}!`,
  zeros: (length) => `1${"0".repeat(length)}1`,
  numbers: (length) => `:${"1.".repeat(length / 2)}!`,
  durations: (length) => `${"1h".repeat(length / 2)}!`,
  dashes: (length) => `a${"-".repeat(length)}!`,
  dotted: (length) => `${"a.".repeat(length / 2)}!`,
  slashes: (length) => `a${"/".repeat(length)}!`,
  spaces: (length) => `a${" ".repeat(length)}!`,
  lineEnds: (length) => `a${"\n".repeat(length)}!`,
  quotes: (length) => `"${'\\"'.repeat(length / 2)}`,
  colons: (length) => `${": ".repeat(length / 2)}!`,
  brackets: (length) => "[".repeat(length),
  round: (length) => "(a".repeat(length / 2),
  braces: (length) => "{1,".repeat(length / 3),
  equals: (length) => `a${"=".repeat(length)}!`,
};

function search({ pattern, isGlobal }: (typeof patterns)[number], text: string): number {
  const before = process.threadCpuUsage();
  if (isGlobal) text.replaceAll(new RegExp(pattern, `${pattern.flags}g`), "");
  else pattern.test(text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** The shorter texts are there so that a pattern that backtracks fails instead of running for hours. */
const texts = [30_000, 1_000_000].flatMap((length) =>
  Object.entries(hostile).map(([name, make]) => ({ name: `${name} at ${length}`, text: make(length) })),
);

test("finds the patterns of the code", () => {
  expect(patterns.length).toBeGreaterThan(40);
  expect([...exempt.keys()].filter((text) => !patterns.some((pattern) => pattern.text === text))).toEqual([]);
});

test.each(patterns.filter(({ text }) => !exempt.has(text)))(
  "[security/84] $text reads 1 MB of anything in 50 ms",
  (given) => {
    // Three times too long: what else the machine does is not the pattern's.
    const slow = texts.find(({ text }) => [1, 2, 3].every(() => search(given, text) > 50));
    expect(slow?.name).toBeUndefined();
  },
);
