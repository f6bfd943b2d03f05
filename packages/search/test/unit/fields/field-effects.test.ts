import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { openSearchCluster, verdictOf } from "@quartermaster/api";
import { fieldOf, isJsonObject, type JsonObject, listOf, realSystem } from "@quartermaster/runtime";
import { toStructuralSchema } from "@quartermaster/runtime/schema";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { holds, rendered, type Rendered, withValue } from "../../support/rendered.ts";
import { fieldPaths, leavesOf } from "../../support/schema-paths.ts";
import { fieldEffects } from "./field-effects.ts";

const base: JsonObject = {
  general: { serviceName: "logs", version: "2.19.4" },
  nodePools: [{ component: "nodes", replicas: 1, roles: ["cluster_manager", "data"] }],
};

/** Seen where another test shows it: the content behind volumes changes the hash of pods. */
const elsewhere = ["general.additionalVolumes[].restartPods"];

function isSeen(output: Rendered, of: string, has: unknown): boolean {
  if (of === "absent") return output.objects.every((object) => object.of !== has);
  const parts =
    of === "cluster" || of === "target" || of === "certificates"
      ? [output[of]]
      : output.objects.filter((object) => object.of === of).map(({ content }) => content);
  return parts.some((part) =>
    has instanceof RegExp ? textsIn(part).some((text) => has.test(text)) : holds(part, has),
  );
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe("a field with an effect", () => {
  test.for(fieldEffects)("[search/SC-122] $path is seen in $of", ({ path, to, of, has, given = {} }) => {
    const before = Object.entries(given).reduce((spec, [at, value]) => withValue(spec, at, value), base);
    expect(isSeen(rendered("OpenSearchCluster", before), of, has)).toBe(false);
    expect(isSeen(rendered("OpenSearchCluster", withValue(before, path, to)), of, has)).toBe(true);
  });

  test("[search/SC-122] each has a row", () => {
    const paths = leavesOf(fieldPaths(toStructuralSchema(openSearchCluster.request.spec)));
    const wanted = paths.filter((path) => verdictOf("OpenSearchCluster", path)?.verdict === "effect");
    const rows = new Set([...fieldEffects.map(({ path }) => path), ...elsewhere]);
    expect(wanted.filter((path) => !rows.has(path))).toEqual([]);
    expect([...rows].filter((path) => !wanted.includes(path))).toEqual([]);
  });
});

const fixtures = join(
  realSystem().env["QM_FIXTURES"] ?? join(import.meta.dirname, "../../../../../../shared/fixtures"),
  "opensearch-upstream/crds/opensearch.org_opensearchclusters.yaml",
);

/** Fields whose content passes through as it is, at the place of their first row. */
function passedThrough(): readonly { readonly path: string; readonly schema: JsonObject }[] {
  if (!existsSync(fixtures)) return [];
  const crd: unknown = parse(readFileSync(fixtures, "utf8"));
  const [version] = listOf(fieldOf(crd, "spec"), "versions");
  const schema = ["schema", "openAPIV3Schema", "properties", "spec"].reduce<unknown>(fieldOf, version);
  const own = new Set(fieldPaths(toStructuralSchema(openSearchCluster.request.spec)));
  return fieldPaths(schema).flatMap((path) => {
    const field = schemaAt(schema, path);
    const isParent = fieldPaths(field).length > 0 && own.has(path) && !holdsOwn(own, path);
    return isParent && verdictOf("OpenSearchCluster", path)?.verdict === "effect"
      ? [{ path, schema: field }]
      : [];
  });
}

function holdsOwn(own: ReadonlySet<string>, path: string): boolean {
  return [...own].some((each) => each.startsWith(`${path}.`) || each.startsWith(`${path}[]`));
}

function schemaAt(schema: unknown, path: string): JsonObject {
  const found = path
    .replaceAll("[]", ".[]")
    .split(".")
    .reduce<unknown>(
      (at, name) => (name === "[]" ? fieldOf(at, "items") : fieldOf(fieldOf(at, "properties"), name)),
      schema,
    );
  return isJsonObject(found) ? found : {};
}

/** A value with every field of a schema of upstream's. */
function sampleOf(schema: unknown, name: string): unknown {
  const properties = fieldOf(schema, "properties");
  if (isJsonObject(properties))
    return Object.fromEntries(Object.entries(properties).map(([key, field]) => [key, sampleOf(field, key)]));
  const items = fieldOf(schema, "items");
  if (items !== undefined) return [sampleOf(items, name)];
  const more = fieldOf(schema, "additionalProperties");
  if (isJsonObject(more)) return { key: sampleOf(more, name) };
  if (name === "targetLabel") return "label";
  if (name === "action") return "replace";
  const byType: Readonly<Record<string, unknown>> = { integer: 7, boolean: true };
  return byType[String(fieldOf(schema, "type"))] ?? `some-${name}`;
}

describe.skipIf(!existsSync(fixtures))(
  "what is below a schemaless field (fixtures not present: skipped)",
  () => {
    test.for(passedThrough())("[search/SC-122] everything below $path passes through", ({ path, schema }) => {
      const { of = "", given = {} } = fieldEffects.find((row) => row.path === path) ?? {};
      const before = Object.entries(given).reduce((spec, [at, value]) => withValue(spec, at, value), base);
      const value = sampleOf(schema, path);
      const output = rendered("OpenSearchCluster", withValue(before, path, value));
      expect(fieldPaths(schema).length).toBeGreaterThan(0);
      expect(isSeen(output, of, value)).toBe(true);
    });
  },
);
