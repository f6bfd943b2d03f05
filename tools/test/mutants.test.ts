import { resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { mutationsOfText, operators } from "../mutants/generate-mutations.ts";
import { locate } from "../mutants/listed/listed-mutant.ts";
import { listedMutants } from "../mutants/listed/listed-mutants.ts";
import { summarizeMutants } from "../mutants/mutant-table.ts";
import { mutated, type Mutation } from "../mutants/mutation.ts";
import { ImportGraph } from "../mutants/related-tests.ts";
import { sampleOf } from "../mutants/sample.ts";

const root = resolve(import.meta.dirname, "../..");

/** One line of code per operator, and what it becomes. */
const rows: readonly (readonly [operator: string, given: string, want: readonly string[]])[] = [
  ["drop-precondition", "del(a, { uid, force })", ["del(a, { force })"]],
  [
    "drop-wake-up",
    "x = { kind, atMs: 1 }; queue.enqueue(key);",
    ["x = { kind }; queue.enqueue(key);", "x = { kind, atMs: 1 }; "],
  ],
  ["drop-await", "{ await write(a); }", ["{ void write(a); }"]],
  ["drop-write", "{ await write(a); }", ["{  }"]],
  ["drop-call", "{ set.delete(key); log.debug(key); }", ["{  log.debug(key); }"]],
  ["swap-writes", "{ await a(); await b(); }", ["{ await b();\nawait a(); }"]],
  ["drop-element", "x = [a, ...b]", ["x = [...b]", "x = [a]"]],
  ["drop-spread", "x = { a, ...b }", ["x = { a }"]],
  ["boundary", "a > b", ["a >= b"]],
  ["direction", "a > b", ["a < b"]],
  ["margin", "a >= b", ["a >= 0", "a >= 2 * (b)"]],
  ["equality", "a === b", ["a !== b"]],
  ["arithmetic", "a - b", ["a + b"]],
  ["drop-term", "Math.min(a, b)", ["a", "b"]],
  ["order", "one.localeCompare(other)", ["other.localeCompare(one)"]],
  ["unknown-as-known", "a === true", ["a !== false"]],
  ["drop-operand", "a && b", ["a", "b"]],
  ["drop-guard", "if (a) return; b();", [" b();"]],
  ["always-guard", "if (a) b();", ["if (!(a)) b();"]],
  ["one-branch", "a ? b : c", ["b", "c"]],
  ["constant-return", "(a) => a === 1", ["(a) => true", "(a) => false"]],
  ["quantifier", "a.every(b)", ["a.some(b)"]],
  ["drop-step", "a.filter(b)", ["a"]],
  ["first-only", "a.map(b)", ["a.slice(0, 1).map(b)"]],
  ["part-of-key", "`${a}/${b}`", ['`${""}/${b}`', '`${a}/${""}`']],
  ["constant", "3", ["3 + 1"]],
  ["unit", "5 * hourMs", ["5 * 60_000"]],
];

describe("operators", () => {
  test.each(rows)("%s: %s", (operator, given, want) => {
    const found = mutationsOfText({ file: "a.ts", text: given }).filter((each) => each.operator === operator);
    expect(found.map((mutation) => mutated(given, mutation))).toEqual(want);
  });

  test("each has a row", () => {
    expect(rows.map(([operator]) => operator).toSorted()).toEqual(Object.keys(operators).toSorted());
  });

  test("names that every object has are no units and no methods", () => {
    expect(
      mutationsOfText({ file: "a.ts", text: "class A { constructor() { this.toString(); } }" }),
    ).toMatchObject([{ operator: "drop-call" }]);
  });
});

describe("a sample", () => {
  const mutation = (operator: string, line: number, title = `a ${String(line)}`): Mutation => {
    return {
      file: "a.ts",
      start: 0,
      end: 0,
      replacement: "",
      operator,
      title: `a.ts:${String(line)} ${title}`,
    };
  };
  const many = Array.from({ length: 50 }, (_, at) => mutation("many", at));

  test("takes as many of each operator as there are of the others", () => {
    const sample = sampleOf([...many, mutation("few", 1), mutation("few", 2)], { size: 6, seed: "1" });
    expect(sample.map(({ operator }) => operator).toSorted()).toEqual([
      "few",
      "few",
      ...Array<string>(4).fill("many"),
    ]);
  });

  test("is the same for the same seed, wherever the line is, and another for another seed", () => {
    const moved = many.map((each) => ({ ...each, title: each.title.replace(/:\d+ /, ":999 ") }));
    const titles = (of: readonly Mutation[], seed: string): readonly string[] =>
      sampleOf(of, { size: 5, seed }).map(({ title }) => title.replace(/:\d+ /, ""));
    expect(titles(moved, "1")).toEqual(titles(many, "1"));
    expect(titles(many, "2")).not.toEqual(titles(many, "1"));
  });
});

/** Read once, when a test needs it. */
const graph = ((): (() => ImportGraph) => {
  let read: ImportGraph | undefined;
  return () => (read ??= new ImportGraph(root));
})();

describe("tests of a file", () => {
  test("are those that import it, the nearest first, and of the level only", () => {
    const tests = graph().testsOf("packages/licensing/src/binding/bind.ts", "unit");
    expect(tests[0]).toMatch(/^packages\/licensing\/test\/unit\//);
    expect(tests).toContain("packages/licensing/test/unit/bind.test.ts");
    expect(tests.every((each) => each.includes("/test/unit/"))).toBe(true);
  });

  test("reach across packages by their names", () => {
    const tests = graph().testsOf("packages/runtime/src/errors.ts", "unit");
    expect(tests.some((each) => each.startsWith("packages/search/"))).toBe(true);
  });
});

describe("the list of mutants", () => {
  test("names each once", () => {
    const names = listedMutants.map((each) => `${each.package}/${each.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(listedMutants)(
    "$package/$name: its text is there exactly once, and a unit test imports it",
    (mutant) => {
      const mutation = locate(root, mutant);
      expect(mutation.replacement).not.toBe(mutant.find);
      expect(graph().testsOf(mutation.file, "unit")).not.toEqual([]);
    },
  );

  test("an entry whose text is missing, or there twice, is refused", () => {
    const mutant = { package: "runtime", name: "a", replace: "" };
    expect(() => locate(root, { ...mutant, find: "this is nowhere" })).toThrow("occurs 0 times");
    expect(() => locate(root, { ...mutant, find: "return" })).toThrow("not once");
  });
});

describe("a run of mutants", () => {
  const mutation = { file: "a.ts", start: 0, end: 0, replacement: "", operator: "boundary", title: "a" };
  const results = (killed: number, survived: number): Parameters<typeof summarizeMutants>[0] =>
    [...Array<string>(killed).fill("a test"), ...Array<undefined>(survived)].map((killedBy) => {
      return { mutation, killedBy, tookMs: 1 };
    });

  test.each([
    { killed: 20, survived: 0, want: true },
    { killed: 19, survived: 1, want: true },
    { killed: 18, survived: 1, want: false },
    { killed: 0, survived: 0, want: false },
  ])("is good with $killed killed and $survived survivors: $want", ({ killed, survived, want }) => {
    const { isGood, lines } = summarizeMutants(results(killed, survived));
    expect(isGood).toBe(want);
    expect(lines.filter((line) => line.startsWith("survived"))).toHaveLength(survived);
  });
});
