import { resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { locateMutant } from "../mutants/locate-mutant.ts";
import { summarizeMutants } from "../mutants/mutant-table.ts";
import { mutants } from "../mutants/mutants.ts";

const root = resolve(import.meta.dirname, "../..");

describe("the list of mutants", () => {
  test("has at least forty", () => {
    expect(mutants.length).toBeGreaterThanOrEqual(40);
  });

  test("names each once", () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });

  test.each(mutants)("$name: its line is there exactly once, and its tests are there", (mutant) => {
    expect(locateMutant(root, mutant)).toMatchObject({ kind: "found" });
    expect(mutant.replace).not.toBe(mutant.find);
  });

  test("an entry whose line is gone, or there twice, is faulty", () => {
    const [first] = mutants;
    if (first === undefined) throw new TypeError("no mutants");
    expect(locateMutant(root, { ...first, find: "this is nowhere" }).kind).toBe("faulty");
    expect(locateMutant(root, { ...first, find: "return" }).kind).toBe("faulty");
    expect(locateMutant(root, { ...first, tests: ["no-such-test"] }).kind).toBe("faulty");
  });
});

describe("a run of mutants", () => {
  const result = (killedBy: string | undefined): Parameters<typeof summarizeMutants>[0][number] => ({
    mutant: { ...aMutant(), file: "a.ts", testFiles: [] },
    killedBy,
    tookMs: 1,
  });
  const results = (killed: number, survived: number): Parameters<typeof summarizeMutants>[0] => [
    ...Array.from({ length: killed }, () => result("a test")),
    ...Array.from({ length: survived }, () => result(undefined)),
  ];

  test.each([
    { killed: 20, survived: 0, want: true },
    { killed: 19, survived: 1, want: true },
    { killed: 18, survived: 1, want: false },
    { killed: 0, survived: 0, want: false },
  ])("is good with $killed killed and $survived survivors: $want", ({ killed, survived, want }) => {
    const { isGood, lines } = summarizeMutants(results(killed, survived));
    expect(isGood).toBe(want);
    expect(lines).toHaveLength(survived + 1);
  });
});

function aMutant(): (typeof mutants)[number] {
  return { name: "a/b", package: "runtime", find: "a", replace: "b", level: "unit", tests: [] };
}
