import { canonicalJson } from "@quartermaster/runtime";
import { cpuMs } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { readYaml } from "../../../src/manifest/read-yaml.ts";

const deepFlow = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const deepBlock = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => `${" ".repeat(level)}a:`).join("\n");
const aliasBomb = ["l0: &l0 [x, x, x, x, x, x, x, x, x]"]
  .concat(
    Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(", ")}]`),
  )
  .join("\n");

describe("readYaml reads", () => {
  const cases = [
    { name: "a mapping", given: "a: 1\nb: [x, true, null]", want: '[{"a":1,"b":["x",true,null]}]' },
    {
      name: "several documents, without the empty ones",
      given: "---\na: 1\n---\n# nothing\n---\nb: 2\n",
      want: '[{"a":1},{"b":2}]',
    },
    { name: "nothing", given: "# only a comment\n", want: "[]" },
    {
      name: "words of YAML 1.1 as text",
      given: "[yes, no, on, off, y, n]",
      want: '[["yes","no","on","off","y","n"]]',
    },
    {
      name: "file modes as kubectl does",
      given: "[0644, 0o644, 644, '0644', 0888]",
      want: '[[420,420,644,"0644",888]]',
    },
    { name: "numbers as keys as text", given: "1: a\ntrue: b", want: '[{"1":"a","true":"b"}]' },
    {
      name: "integers beyond 2^53",
      given: "a: 9007199254740993\nb: -9223372036854775808",
      want: '[{"a":9007199254740993,"b":-9223372036854775808}]',
    },
    {
      name: "__proto__ and constructor as own keys",
      given: "__proto__: {a: 1}\nconstructor: 2",
      want: '[{"__proto__":{"a":1},"constructor":2}]',
    },
    {
      name: "aliases",
      given: "a: &x {k: v}\nb: *x\nc: &x 1\nd: *x",
      want: '[{"a":{"k":"v"},"b":{"k":"v"},"c":1,"d":1}]',
    },
    { name: "a quoted merge key as a key", given: '"<<": 1', want: '[{"<<":1}]' },
    { name: "standard tags", given: "a: !!str 1\nb: !!int '2'", want: '[{"a":"1","b":2}]' },
    {
      name: "block text",
      given: "a: |\n  x\n\ty\nb: >-\n  p\n  q\n".replace("\ty", "  y"),
      want: '[{"a":"x\\ny\\n","b":"p q"}]',
    },
    { name: "100 levels", given: deepFlow(100), want: `[${deepFlow(100)}]` },
    { name: "JSON", given: '{"a":[9007199254740993,"\\u0041"]}', want: '[{"a":[9007199254740993,"A"]}]' },
    { name: "a stream of JSON", given: '{"a":1}\n---\n{"b":2}', want: '[{"a":1},{"b":2}]' },
    { name: "flow mappings that are no JSON", given: "{a: 1, b: [x]} # note", want: '[{"a":1,"b":["x"]}]' },
  ];
  test.for(cases)("$name", ({ given, want }) => {
    const { documents, issues } = readYaml(given);
    expect(issues).toEqual([]);
    expect(canonicalJson(documents.map(({ value }) => value))).toBe(want);
  });

  test("[install-plan/16] a bare = as the text", () => {
    expect(readYaml('enum:\n- "!="\n- =\n- =~').documents[0]?.value).toEqual({ enum: ["!=", "=", "=~"] });
  });

  test("the place of each document", () => {
    const { documents } = readYaml("# head\n---\na: 1\n---\n---\n\nb: 2\n");
    expect(documents.map(({ index, line }) => ({ index, line }))).toEqual([
      { index: 0, line: 3 },
      { index: 2, line: 7 },
    ]);
  });
});

describe("readYaml refuses within 50 ms", () => {
  const cases = [
    { name: "an alias bomb", given: aliasBomb, want: "line 5: aliases expand to too many nodes" },
    {
      name: "an anchor that holds itself",
      given: "a: &a [*a]",
      want: "line 1: an alias references an anchor that is not defined before it",
    },
    {
      name: "depth through aliases",
      given: `a: &a ${deepFlow(60)}\nb: ${"[".repeat(60)}*a${"]".repeat(60)}`,
      want: "line 2: nested deeper than 100 levels",
    },
    {
      name: "10,000 levels of brackets",
      given: deepFlow(10_000),
      want: "line 1: nested deeper than 100 levels",
    },
    {
      name: "10,000 open brackets",
      given: "{a: ".repeat(10_000),
      want: "line 1: nested deeper than 100 levels",
    },
    {
      name: "1,000 levels of indentation",
      given: deepBlock(1_000),
      want: "line 102: nested deeper than 100 levels",
    },
    { name: "10,000 dashes", given: "- ".repeat(10_000), want: "line 1: nested deeper than 100 levels" },
    {
      name: "a key that occurs twice",
      given: "a: 1\nb: 2\n'a': 3",
      want: 'line 3: the key "a" occurs twice',
    },
    {
      name: "a key that occurs twice in JSON",
      given: '{"x":{"a":1,\n"\\u0061":2}}',
      want: 'line 2: the key "a" occurs twice',
    },
    {
      name: "tabs as indentation",
      given: "a:\n\tb: 1",
      want: "line 2, column 1: tabs are not allowed as indentation; use spaces",
    },
    {
      name: "a tag that makes code",
      given: "a: !!js/function 'x'",
      want: "line 1, column 4: the tag is unknown; remove it",
    },
    {
      name: "a tag of its own",
      given: "a: !secret x",
      want: "line 1, column 4: the tag is unknown; remove it",
    },
    {
      name: "binary",
      given: "a: !!binary aGVsbG8=",
      want: "line 1, column 4: the tag is unknown; remove it",
    },
    { name: "NUL", given: "a: 1\nb: x\0y", want: "line 2: contains a NUL byte" },
    {
      name: "a byte order mark",
      given: "\u{FEFF}a: 1",
      want: "line 1: starts with a byte order mark; save the file without it",
    },
    {
      name: "a merge key",
      given: "a: &a {b: 1}\nc:\n  <<: *a",
      want: "line 3: merge keys (<<) are not supported; write the fields out",
    },
    { name: "infinity", given: "a: .inf", want: "line 1: is not a valid JSON number" },
    { name: "a mapping as key", given: "? {a: 1}\n: 2", want: "line 1, column 3: keys must be strings" },
  ];
  test.for(cases)("$name", ({ given, want }) => {
    const { documents, issues } = readYaml(given, { file: "x.yaml" });
    expect(cpuMs(() => readYaml(given))).toBeLessThan(50);
    expect(documents).toEqual([]);
    expect(issues[0]?.message).toBe(`x.yaml, document 1, ${want}`);
  });

  test("an alias bomb with less memory than it would take", () => {
    const before = process.memoryUsage().heapUsed;
    readYaml(aliasBomb);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 1024 * 1024);
  });
});

describe("readYaml says what is wrong and what to do about", () => {
  const keyExpected = "expected key: value, with a space after the colon";
  const cases = [
    {
      name: "a colon in a value",
      given: "a: b: c",
      want: /1, column 4: .*put a value that contains a colon in quotes/,
    },
    {
      name: "no space after a colon",
      given: "kind:ConfigMap\nmetadata:\n  name: x",
      want: `1, column 1: ${keyExpected}`,
    },
    {
      name: "the same, indented",
      given: "metadata:\n  name:x\n  namespace: y",
      want: `2, column 3: ${keyExpected}`,
    },
    {
      name: "a line without a colon",
      given: "data:\n  a: b\n  c\n  d: e",
      want: `3, column 3: ${keyExpected}`,
    },
    {
      name: "a key too far left",
      given: "a:\n    b: x\n  c: y",
      want: /3, column 1: .*all keys of a mapping/,
    },
    {
      name: "an item too far left",
      given: "a:\n  - x\n - y",
      want: /3, column 1: .*must start in the same column/,
    },
    { name: "an open quote", given: 'a: "b\nc: d', want: /a quote is not closed/ },
    { name: "text after a quote", given: 'a: "b" c', want: /1, column 8: unexpected text after a value/ },
    {
      name: "a list and keys mixed",
      given: "- a\nb: c",
      want: /2, column 1: .*do not mix list items and keys/,
    },
    { name: "an open bracket", given: "a: [1, 2\nb: c", want: /a bracket is not closed/ },
    {
      name: "a bracket too many",
      given: "a: [1, 2]]",
      want: /1, column 10: a bracket is closed that was not opened/,
    },
    {
      name: "a template",
      given: "metadata:\n  name: {{ .Values.name }}",
      want: /2, column 10: looks like a template/,
    },
    {
      name: "a merge conflict",
      given: "a: b\n<<<<<<< HEAD\nc: d\n",
      want: /2, column 1: is a marker of a merge conflict/,
    },
    { name: "a reserved character", given: "a: @b", want: /1, column 4: .*put it in quotes/ },
    { name: "an unknown escape", given: String.raw`a: "\q"`, want: /1, column 5: .*use single quotes/ },
  ];
  test.for(cases)("$name", ({ given, want }) => {
    const { issues } = readYaml(given, { file: "x.yaml" });
    expect(issues).toHaveLength(1);
    expect(issues[0]?.message).toMatch(want);
  });
});

describe("readYaml", () => {
  test("keeps good documents beside broken ones and names the broken one", () => {
    const { documents, issues } = readYaml("a: 1\n---\nb: [\n---\nc: 3\n", { file: "x.yaml" });
    expect(documents.map(({ index }) => index)).not.toContain(1);
    expect(documents[0]?.value).toEqual({ a: 1 });
    expect(issues[0]?.message).toMatch(/^x\.yaml, document 2, line \d, column \d: /);
  });

  test("never quotes what it could not read", () => {
    const secret = "hunter2-canary";
    for (const text of [
      `a: "${secret}\\q"`,
      `a: @${secret}`,
      `a: ${secret}: b`,
      `a: [${secret}\nb: 1`,
      `${secret}\nb: 1`,
      `"${secret}`,
    ]) {
      const { issues } = readYaml(text);
      expect(issues.length, text).toBeGreaterThan(0);
      expect(JSON.stringify(issues)).not.toContain(secret);
    }
  });

  test("reads 20,000 keys in time that grows with them, not with their square", () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `key-${index}: value-${index}`).join("\n");
    expect(Object.keys(readYaml(text).documents[0]?.value ?? {})).toHaveLength(20_000);
    expect(cpuMs(() => readYaml(text))).toBeLessThan(2_000);
  });

  test("changes no prototype", () => {
    readYaml('{"__proto__":{"polluted":1}}');
    readYaml("__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 1}}");
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});
