import type { Live } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { boundedData, isCut } from "../../src/bounded-data.ts";
import { parseYaml } from "../../src/model/parse-yaml.ts";
import { readSettings } from "../../src/model/read-settings.ts";
import { withinBudget } from "../../src/model/within-budget.ts";
import { secretText } from "../../src/secret-text.ts";
import { readSecurityFiles } from "../../src/security-content/read-security-files.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";

/** Text of many keys, about so many characters. */
function manyKeys(size: number): string {
  const lines = Array.from(
    { length: Math.ceil(size / 14) },
    (_, at) => `key${String(at).padStart(6, "0")}: 1`,
  );
  return lines.join("\n");
}

describe("[security/103] what an author makes us read has a budget", () => {
  test.for<[string, string, unknown]>([
    ["a mapping", "a: 1\nb: [2]", { a: "1", b: ["2"] }],
    ["a key twice", "a: 1\na: 2", undefined],
    ["a key twice in a mapping inside", "a: {b: 1, c: {b: 1, b: 2}}", undefined],
    ["a key twice, once in quotes", "a: 1\n'a': 2", undefined],
    ["aliases", "a: &x [1]\nb: *x", undefined],
    ["no YAML", "a: [", undefined],
    ["too deep for the stack", "[".repeat(60_000), undefined],
  ])("%s", ([, text, want]) => {
    expect(parseYaml(text, { schema: "failsafe", maxAliasCount: 0 })?.value).toEqual(want);
  });

  test("many keys are read in a time that grows with them, not with their square", () => {
    const took = (size: number): number => {
      const text = manyKeys(size);
      const begun = performance.now();
      expect(parseYaml(text, { schema: "core", maxAliasCount: 0 })).toBeDefined();
      return performance.now() - begun;
    };
    took(20_000);
    // Each with each takes 90 s for 700 KB on the machine that this was written on, and this takes one.
    expect(took(700_000)).toBeLessThan(20_000);
  });

  test("settings of all pools and of Dashboards count together", () => {
    const config = { a: "x".repeat(30_000) };
    const small = aSearchCluster({ config, pools: [aPool({ config })] });
    expect(withinBudget(small)).toEqual({ cluster: small, issues: [] });
    const large = aSearchCluster({ config, pools: [aPool({ config }), aPool({ name: "other", config })] });
    const { cluster, issues } = withinBudget(large);
    expect(issues).toMatchObject([{ path: "spec.general.additionalConfig", reason: "InvalidSpec" }]);
    expect([cluster.config, ...cluster.pools.map((pool) => pool.config)]).toEqual([{}, {}, {}]);
  });

  test("a map of the spec is read once, however often it is needed", () => {
    const config = Object.freeze({ a: "[1, 2]" });
    expect(readSettings(config)).toBe(readSettings(config));
  });

  test("a long name is not multiplied by the keys below it", () => {
    const value = `{${Array.from({ length: 2000 }, (_, at) => `k${String(at)}: 1`).join(", ")}}`;
    const name = "n".repeat(600);
    expect(readSettings({ [name]: value })).toEqual({ settings: {}, unreadable: [name] });
  });

  test("files of the security plugin above 256 KiB are not read; below they are, once for each version", () => {
    const data = (size: number): Readonly<Record<string, string>> => ({
      "internal_users.yml": Buffer.from(manyKeys(size).replaceAll(": 1", ": {}")).toString("base64"),
    });
    const large = readSecurityFiles(data(640_000));
    expect(large).toEqual({ documents: {}, problems: [expect.stringContaining("256 KiB") as string] });
    expect(readSecurityFiles(data(80_000)).problems).toEqual([
      expect.stringContaining("5,000 entries") as string,
    ]);
    const version = data(60_000);
    const { documents, problems } = readSecurityFiles(version);
    expect(problems).toEqual([]);
    expect(Object.keys(documents.internalusers ?? {}).length).toBeGreaterThan(4000);
    expect(readSecurityFiles(version).documents).toBe(documents);
  });
});

describe("[security/113] what is kept in memory of a tenant's object has a limit", () => {
  const object = (data: object): Live => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "b", uid: "u", resourceVersion: "1" },
    ...data,
  });
  const { project } = boundedData(64);

  test("up to the limit the object is kept as it is", () => {
    const small = object({ data: { a: "x".repeat(60_000) }, binaryData: { b: "y" } });
    expect(project(small)).toBe(small);
  });

  test("above it each value becomes its digest, which differs where the value does and is never taken for text", () => {
    const large = (text: string): { readonly data: Readonly<Record<string, string>> } =>
      project(object({ data: { a: text, b: "same" }, binaryData: { c: "x" } })) as never;
    const [one, other] = [large("x".repeat(70_000)), large("y".repeat(70_000))];
    expect(JSON.stringify(one).length).toBeLessThan(500);
    expect(one.data["a"]).not.toBe(other.data["a"]);
    expect(one.data["b"]).toBe(other.data["b"]);
    expect([isCut(one.data["a"]), secretText(one, "a")]).toEqual([true, undefined]);
  });

  test("files are read once for each version, until those of too many others were read", () => {
    const users = manyKeys(60_000).replaceAll(": 1", ": {}");
    const data = (): Readonly<Record<string, string>> => ({
      "internal_users.yml": Buffer.from(users).toString("base64"),
    });
    const [first, ...others] = Array.from({ length: 40 }, data);
    const read = readSecurityFiles(first ?? {});
    expect(readSecurityFiles(first ?? {})).toBe(read);
    for (const each of others) readSecurityFiles(each);
    expect(readSecurityFiles(first ?? {})).not.toBe(read);
  });
});
