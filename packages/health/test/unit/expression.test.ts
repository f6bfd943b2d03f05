import { cpuMs } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { checkExpression, judge } from "../../src/expression.ts";

const self = {
  metadata: { name: "shop", generation: 3 },
  spec: { replicas: 3, ratio: 0.5, isOn: true, nothing: null },
  status: {
    replicas: 3,
    phase: "Running",
    conditions: [
      { type: "Synced", status: "True" },
      { type: "Ready", status: "False" },
    ],
    ["__proto__"]: { odd: true },
  },
};

/** Undefined when it is true. */
function whyNotTrue(expression: string, object: unknown): string | undefined {
  const judgement = judge(expression, object);
  return judgement.kind === "true" ? undefined : judgement.why;
}

describe("an expression", () => {
  test.each([
    { name: "compares whole numbers as ints", given: "self.status.replicas + 1 == 4", want: undefined },
    { name: "compares fractions", given: "self.spec.ratio < 0.75", want: undefined },
    {
      name: "runs over conditions",
      given: "self.status.conditions.exists(c, c.type == 'Synced' && c.status == 'True')",
      want: undefined,
    },
    {
      name: "nests loops",
      given: "self.status.conditions.all(a, self.status.conditions.exists(b, a == b))",
      want: undefined,
    },
    { name: "tests for fields", given: "has(self.status.phase) && !has(self.status.url)", want: undefined },
    {
      name: "calls functions of strings",
      given: "self.status.phase.lowerAscii().startsWith('run')",
      want: undefined,
    },
    {
      name: "knows booleans and null",
      given: "self.spec.isOn && self.spec.nothing == null",
      want: undefined,
    },
    { name: "finds members", given: "self.status.phase in ['Running', 'Done']", want: undefined },
    {
      name: "does not reach prototypes",
      given: "has(self.constructor) || has(self.toString)",
      want: "it is false",
    },
    { name: "is false", given: "self.status.phase == 'Done'", want: "it is false" },
    { name: "misses a field", given: "self.status.url == 'x'", want: "field not found: url" },
    {
      name: "gives a number",
      given: "self.status.replicas",
      want: "it does not return a boolean",
    },
    {
      name: "adds what cannot be added",
      given: "self.status.replicas + 'x' == 'x'",
      want: "found no matching overload for '_+_' applied to '(int, string)'",
    },
  ])("$name", ({ given, want }) => {
    expect(whyNotTrue(given, self)).toBe(want);
  });
});

describe("a fault is found without an object", () => {
  test.each([
    {
      name: "fine",
      given: "self.spec.replicas == size(self.status.conditions.map(c, c.type))",
      want: /^nothing wrong$/,
    },
    { name: "syntax", given: "self.spec.replicas ==", want: /expecting/ },
    {
      name: "unknown name",
      given: "object.spec.replicas == 1",
      want: /there is no object; the object is called self/,
    },
    { name: "loop variable outside its loop", given: "self.l.all(x, true) && x == 1", want: /there is no x/ },
    { name: "unknown function", given: "lookup('x') == 1", want: /there is no function lookup/ },
    { name: "unknown method", given: "self.spec.frobnicate()", want: /there is no function frobnicate/ },
    { name: "our own function", given: "@items(self) == 1", want: /expecting/ },
    { name: "too long", given: `self.a == '${"x".repeat(4_100)}'`, want: /longer than 4096 characters/ },
    { name: "nothing", given: "  ", want: /./ },
  ])("$name", ({ given, want }) => {
    expect(checkExpression(given) ?? "nothing wrong").toMatch(want);
  });
});

/** Well above what the bound allows on a busy machine, far below what the unbounded work would take. */
const limitMs = 1_000;

describe("hostile expressions end soon", () => {
  const hostile = {
    text: `${"a".repeat(100_000)}!`,
    pattern: "(a?){50}".repeat(2_000),
    list: Array.from({ length: 20_000 }, (_, index) => index),
    deep: Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => "x")),
  };

  test.each([
    {
      name: "pattern that backtracks for ever elsewhere",
      given: "self.text.matches('^(a+)+$')",
      want: "it is false",
    },
    { name: "alternatives of the same", given: "self.text.matches('^(a|a|aa)*$')", want: "it is false" },
    {
      name: "pattern out of the object",
      given: "self.text.matches(self.pattern)",
      want: "a pattern may have at most 1000 characters",
    },
    { name: "long list", given: "self.list.all(x, x >= 0)", want: "it takes too many steps on this object" },
    {
      name: "loops in loops over literals",
      given: nested(6),
      want: "it takes too many steps on this object",
    },
    {
      name: "search in a loop",
      given: "self.deep.all(x, self.list.exists(y, y in self.list))",
      want: "it takes too many steps on this object",
    },
    {
      name: "comparison in a loop",
      given: "self.deep.all(x, self == self)",
      want: "it takes too many steps on this object",
    },
    {
      name: "text in a loop",
      given: "self.deep.all(x, x.all(y, self.text.contains('b' + y) == false))",
      want: "it takes too many steps on this object",
    },
    {
      name: "list built up",
      given: "self.deep.map(x, x + x + x).map(x, x + x).all(x, size(x) == 600)",
      want: /steps|stack/,
    },
  ])("$name", ({ given, want }) => {
    expect(whyNotTrue(given, hostile)).toMatch(want);
    expect(cpuMs(() => whyNotTrue(given, hostile))).toBeLessThan(limitMs);
  });
});

function nested(levels: number): string {
  if (levels === 0) return "true";
  const list = Array.from({ length: 50 }, () => "1").join(",");
  return `[${list}].all(v${levels}, ${nested(levels - 1)})`;
}
