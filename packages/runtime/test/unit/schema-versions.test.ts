import { expect, test } from "vitest";
import { z } from "zod";

import { SchemaError } from "../../src/errors.ts";
import type { CustomResource, KindVersion } from "../../src/schema/index.ts";
import { defineCustomResource, referencePage } from "../../src/schema/index.ts";

type Version = KindVersion<z.ZodObject, z.ZodObject>;

const spec = z.object({ size: z.int().default(1) });
const version = { spec, status: z.object({}), columns: [] };

function crates(more: Partial<CustomResource["request"]> = {}): CustomResource {
  return defineCustomResource({
    ...version,
    group: "example.org",
    version: "v1",
    kind: "Crate",
    plural: "crates",
    scope: "Namespaced",
    description: "A crate.",
    example: { metadata: { name: "one" }, spec: {} },
    ...more,
  });
}

function versionsIn(resource: CustomResource): readonly object[] {
  return (resource.definition() as { spec: { versions: readonly object[] } }).spec.versions;
}

const older: Version = { ...version, version: "v1alpha1" };

test.each<{
  readonly name: string;
  readonly given: Partial<CustomResource["request"]>;
  readonly want: readonly object[];
}>([
  { name: "a single version", given: {}, want: [{ name: "v1", served: true, storage: true }] },
  {
    name: "an older version that is served",
    given: { otherVersions: [older] },
    want: [
      { name: "v1", served: true, storage: true },
      { name: "v1alpha1", served: true, storage: false },
    ],
  },
  {
    name: "an older version that is stored",
    given: { otherVersions: [{ ...older, storage: true }] },
    want: [
      { name: "v1", storage: false },
      { name: "v1alpha1", storage: true },
    ],
  },
  {
    name: "a deprecated version without words of its own",
    given: { otherVersions: [{ ...older, deprecated: true }] },
    want: [{ name: "v1" }, { name: "v1alpha1", deprecated: true }],
  },
])("stores exactly one version: $name", ({ given, want }) => {
  expect(versionsIn(crates(given))).toMatchObject([...want]);
});

test.each<{ readonly name: string; readonly given: Partial<CustomResource["request"]> }>([
  { name: "two stored versions", given: { storage: true, otherVersions: [{ ...older, storage: true }] } },
  { name: "no stored version", given: { storage: false, otherVersions: [older] } },
  { name: "a version that is there twice", given: { otherVersions: [{ ...older, version: "v1" }] } },
])("refuses $name", ({ given }) => {
  expect(() => crates(given)).toThrow(SchemaError);
});

test("refuses a rule whose message is not one line", () => {
  const rules = [{ rule: "true", message: "one\ntwo" }];
  expect(() => crates({ rules }).definition()).toThrow(/not one line/);
});

test("checks a manifest by the schema of its own version", () => {
  const strict = { ...older, spec: z.strictObject({ legacy: z.string() }) };
  const resource = crates({ otherVersions: [strict] });
  const manifest = { kind: "Crate", metadata: { name: "one" }, spec: { legacy: "x" } };
  expect(resource.check({ ...manifest, apiVersion: "example.org/v1alpha1" })).toEqual([]);
  expect(resource.check({ ...manifest, apiVersion: "example.org/v1alpha1", spec: {} })).toMatchObject([
    { path: "spec.legacy" },
  ]);
  expect(resource.check({ ...manifest, apiVersion: "example.org/v9" })).toMatchObject([
    { path: "apiVersion" },
  ]);
});

test("a conversion webhook is described without a bundle, which is injected later", () => {
  const service = { namespace: "quartermaster", name: "webhook", path: "/convert" };
  const { spec: definition } = crates({
    otherVersions: [older],
    conversion: { strategy: "Webhook", client: { service } },
  }).definition() as { spec: { conversion: unknown } };
  expect(definition.conversion).toEqual({
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1"], clientConfig: { service } },
  });
});

test("the reference page lists versions and the rules of the whole object", () => {
  const page = referencePage(
    crates({
      rules: [{ rule: "true", message: "the name is short" }],
      otherVersions: [{ ...older, deprecated: true }],
    }),
  );
  expect(page).toContain("- Rule: the name is short.");
  expect(page).toContain("| `v1` | served, stored |\n| `v1alpha1` | served, deprecated |");
});
