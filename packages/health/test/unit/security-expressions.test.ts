import { cpuMs } from "@quartermaster/testkit";
import { assert, constantFrom, letrec, oneof, property, tuple } from "fast-check";
import { describe, expect, test } from "vitest";

import { checkExpression, judge, type Judgement } from "../../src/expression.ts";
import { expandedSize, linearPattern } from "../../src/linear-pattern.ts";

/** The bound is 100 ms; a busy machine and a cold start may take a few times that, the attacks take seconds to for ever. */
const limitMs = 500;

const self = {
  text: "a".repeat(200_000),
  digits: "9".repeat(200_000),
  mixed: Array.from({ length: 20_000 }, (_, at) => ((at * at) % 7 < 3 ? "a" : "b")).join(""),
  percents: "%s".repeat(20_000),
  list: Array.from({ length: 500 }, (_, at) => at),
  words: Array.from({ length: 400 }, () => "w".repeat(400)),
  doubles: Array.from({ length: 3_000 }, () => 0.5),
};

const b2000 = "b".repeat(1_900);
const doubled = (times: number): string => `.map(x, x + x)`.repeat(times);

function sumOf(count: number, term: string): string {
  return Array.from({ length: count }, () => term).join("+");
}

const hostile = {
  "a chain of replacements": `'${"a".repeat(1_000)}'.replace('a', '${"b".repeat(1_000)}').replace('b', '${"c".repeat(1_000)}') == ''`,
  "a replacement of each character": `self.text.replace('a', '${b2000}') == ''`,
  "a replacement of nothing": `self.text.replace('', '${b2000}') == ''`,
  "replacements of little": "self.text.replace('aa', 'a').replace('aa', 'a').replace('aa', 'a') == ''",
  "a text doubled": `['a']${doubled(60)}.all(x, x.contains('b'))`,
  "a text doubled and never looked at": `['a']${doubled(60)}.size() == 0`,
  "a list doubled": `[[1]]${doubled(60)}.all(x, x.exists(y, y == 2))`,
  "a text taken apart": "self.text.split('').all(x, x == 'a')",
  "a text taken apart and joined": `self.text.split('').join('${b2000}').contains('x')`,
  "a join with a long separator": `self.list.map(x, 'x').join('${b2000}') == ''`,
  "joins of joins": `self.words.join('${b2000}').split('w').join('${b2000}') == ''`,
  "loops in loops": `${"self.list.all(x, ".repeat(6)}true${")".repeat(6)}`,
  "maps in maps": `${"self.list.map(x, ".repeat(6)}1${")".repeat(6)} == []`,
  "a long body in a loop": `self.list.all(x, ${sumOf(8, `(${sumOf(150, "1")})`)} > 0)`,
  "a long list in a loop": `self.list.all(x, [${Array.from({ length: 1_800 }, () => "1").join(",")}].size() > 0)`,
  "a pattern with very many states": "self.mixed.matches('[ab]*a[ab]{200}[cd]$')",
  "a pattern that backtracks elsewhere": "self.text.matches('^(a|aa|a+)*$')",
  "patterns that repeat repetitions": "self.text.matches('((((a{0,9}){0,9}){0,9}){0,9}){0,9}b')",
  "a pattern of many alternatives": `self.mixed.matches('${"[ab]{0,900}|".repeat(60)}c')`,
  "patterns in a loop": "self.list.all(x, self.mixed.matches('^(a|b)*$'))",
  "a number of many digits": "int(self.digits) == 1",
  "sizes in a loop": "self.list.all(x, size(self.text) > 0)",
  "upper case in a loop": "self.list.all(x, self.text.upperAscii().lowerAscii() != '')",
  "a search for almost the text": "(self.text + 'b').contains('b' + self.text)",
  "formats of many numbers": `'${"%.99f".repeat(100)}'.format(self.doubles) == ''`,
  "a format of many parts": "self.percents.format(self.doubles) == ''",
  "quotes of quotes": "strings.quote(strings.quote(strings.quote(self.text))) == ''",
  "bytes doubled": `[bytes(self.text)]${doubled(40)}.all(x, x == b'')`,
  "an error that is passed over": `(${"self.list.all(x, ".repeat(5)}true${")".repeat(5)}) || true`,
  "brackets in brackets": `${"(".repeat(1_900)}true${")".repeat(1_900)}`,
  "lists in lists": `${"[".repeat(1_500)}${"]".repeat(1_500)} == []`,
  "a long chain of fields": `self${".a".repeat(2_000)} == 1`,
  "a long sum": `1${"+1".repeat(2_000)} == 1`,
  "many conditions": `${"self.list == [] || ".repeat(200)} true`,
} as const;

describe("expressions of a hostile author", () => {
  test.each(Object.entries(hostile))("[security/91] %s ends soon", (_, expression) => {
    expect(expression.length).toBeLessThanOrEqual(4_096);
    judge(expression, self);
    expect(cpuMs(() => judge(expression, self))).toBeLessThan(limitMs);
    expect(cpuMs(() => checkExpression(`${expression} `))).toBeLessThan(limitMs);
  });

  const tooExpensive = [
    "a chain of replacements",
    "a replacement of each character",
    "a text doubled",
    "a list doubled",
    "a text taken apart and joined",
    "loops in loops",
    "a long body in a loop",
    "a pattern with very many states",
    "a number of many digits",
    "an error that is passed over",
  ] as const;
  test.each(tooExpensive)("[security/91] %s is too expensive", (name) => {
    expect(judge(hostile[name], self).kind).toBe("tooExpensive");
  });

  test.each([
    { count: 200, want: { kind: "true" } },
    { count: 400, want: { kind: "untrue", why: "it is nested too deeply" } },
  ])(
    "[security/91] a sum of $count is judged alike, however little is left of the stack",
    ({ count, want }) => {
      // Another one each time: what was compiled is kept.
      const judgeBelow = (calls: number, least: number): Judgement =>
        calls === 0 ? judge(`${sumOf(count, "1")} > ${least}`, self) : judgeBelow(calls - 1, least);
      expect([judgeBelow(0, 1), judgeBelow(3_000, 2)]).toEqual([want, want]);
    },
  );

  test.each([
    { name: "replaces all", given: "'a-b-c'.replace('-', '+') == 'a+b+c'" },
    { name: "replaces some", given: "'a-b-c'.replace('-', '+', 1) == 'a+b-c'" },
    { name: "replaces none", given: "'a-b-c'.replace('-', '+', 0) == 'a-b-c'" },
    { name: "replaces all for a negative number", given: "'a-b-c'.replace('-', '+', -1) == 'a+b+c'" },
    { name: "replaces between characters", given: "'ab'.replace('', '.') == '.a.b.'" },
    { name: "replaces between some characters", given: "'abc'.replace('', '.', 2) == '.a.bc'" },
    { name: "joins", given: "['a', 'b'].join() == 'ab' && ['a', 'b'].join(', ') == 'a, b'" },
    { name: "adds lists", given: "[1] + [2, 3] == [1, 2, 3] && [] + [1] == [1]" },
    { name: "adds texts", given: "'a' + 'b' == 'ab'" },
    { name: "maps and filters", given: "[1, 2, 3].map(x, x * 2).filter(x, x > 2) == [4, 6]" },
    { name: "matches a long text", given: "self.mixed.matches('^[ab]+$')" },
    {
      name: "loops over hundreds of entries",
      given: "self.words.all(w, w.startsWith('www'))",
    },
  ])("$name as before", ({ given }) => {
    expect(judge(given, self)).toEqual({ kind: "true" });
  });

  test("[security/91] whatever is put together of the costly functions ends soon", () => {
    const { text } = letrec<{ text: string; list: string }>((tie) => ({
      text: oneof(
        { maxDepth: 4 },
        constantFrom("self.text", "self.mixed", "'a'", `'${"b".repeat(300)}'`),
        tuple(tie("text"), tie("text"), tie("text")).map(([a, b, c]) => `${a}.replace(${b}, ${c})`),
        tuple(tie("list"), tie("text")).map(([a, b]) => `${a}.join(${b})`),
        tuple(tie("text"), tie("text")).map(([a, b]) => `(${a} + ${b})`),
      ),
      list: oneof(
        { maxDepth: 4 },
        constantFrom("self.words", "['a', 'b', 'c']"),
        tuple(tie("text"), tie("text")).map(([a, b]) => `${a}.split(${b})`),
        tuple(tie("list"), tie("list")).map(([a, b]) => `(${a} + ${b})`),
        tuple(tie("list"), tie("text")).map(([a, b]) => `${a}.map(x, x + ${b})`),
      ),
    }));
    assert(
      property(text, (expression) => {
        expect(cpuMs(() => judge(`${expression} == ''`, self))).toBeLessThan(limitMs);
      }),
      { numRuns: 60 },
    );
  });
});

describe("patterns of others", () => {
  test.each([
    { name: "plain", given: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", want: "taken" },
    { name: "too long", given: "a".repeat(1_001), want: "a pattern may have at most 1000 characters" },
    { name: "look-ahead", given: "(?=a)", want: "a pattern must be valid RE2 syntax" },
    { name: "back reference", given: "(a)\\1", want: "a pattern must be valid RE2 syntax" },
    { name: "nested counts", given: "((a{0,30}){0,30}){0,30}", want: "a pattern has too many repetitions" },
    { name: "counts beside each other", given: "a{100}b{100}[c{500}]\\{900}", want: "taken" },
  ])("$name: $want", ({ given, want }) => {
    const compiled = linearPattern(given);
    expect(typeof compiled === "string" ? compiled : "taken").toBe(want);
  });

  test.each([
    { given: "abc", want: 3 },
    { given: "a{9}", want: 10 },
    { given: "(ab){9}c", want: 51 },
  ])("$given is written out to at most $want instructions", ({ given, want }) => {
    expect(expandedSize(given)).toBe(want);
  });
});

describe("expressions that never end on their own", () => {
  test.each([
    {
      name: "nested loops",
      expression: "self.list.all(a, self.list.all(b, self.list.all(c, a + b + c >= 0)))",
    },
    { name: "a pattern that backtracks", expression: "self.text.matches('^(a+)+$')" },
  ])("[security/23] $name in an expression end within their allowance", ({ expression }) => {
    const given = {
      list: Array.from({ length: 1_000 }, (_, index) => index),
      text: `${"a".repeat(20_000)}!`,
    };
    expect(judge(expression, given).kind).not.toBe("true");
    expect(cpuMs(() => judge(expression, given))).toBeLessThan(200);
  });
});
