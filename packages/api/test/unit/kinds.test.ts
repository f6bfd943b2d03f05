import { describe, expect, test } from "vitest";

import { installPlan, kinds, resourceManifest } from "../../src/index.ts";

describe.each(kinds.map((resource) => ({ name: resource.kind.kind, resource })))("$name", ({ resource }) => {
  test("has an example that its own check finds no fault with", () => {
    expect(resource.check(resource.example)).toEqual([]);
  });

  test("describes every field, for kubectl explain", () => {
    const own = /^[^.]*\.metadata$/;
    // Of metadata the server gives its own description, and refuses ours.
    expect(undescribed(resource.definition()).filter((path) => !own.test(path))).toEqual([]);
  });

  test("gives a definition far below the size that etcd and kubectl take", () => {
    expect(JSON.stringify(resource.definition()).length).toBeLessThan(256 * 1024);
  });
});

/** Paths of the fields of a definition that have no description. */
function undescribed(definition: Readonly<Record<string, unknown>>): readonly string[] {
  const { versions } = definition["spec"] as { readonly versions: readonly Version[] };
  return versions.flatMap(({ name, schema }) => fieldsWithout(schema.openAPIV3Schema, name));
}

interface Version {
  readonly name: string;
  readonly schema: { readonly openAPIV3Schema: Schema };
}

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

function fieldsWithout(
  { properties = {}, items, additionalProperties }: Schema,
  path: string,
): readonly string[] {
  const values = typeof additionalProperties === "object" ? [additionalProperties] : [];
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...((field.description ?? "") === "" ? [`${path}.${name}`] : []),
      ...fieldsWithout(field, `${path}.${name}`),
    ]),
    ...[...(items === undefined ? [] : [items]), ...values].flatMap((each) =>
      fieldsWithout(each, `${path}[]`),
    ),
  ];
}

test("lists all problems of a manifest together, each with its path", () => {
  const invalid = {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { name: "x" },
    spec: {
      serviceAccountName: "Not A Label",
      stages: [{ name: "one", wait: "Forever", jbos: [] }],
      historyLimit: -1,
    },
  };
  const paths = installPlan.check(invalid).map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      "spec.serviceAccountName",
      "spec.stages.0.wait",
      "spec.stages.0",
      "spec.historyLimit",
    ]),
  );
});

test("refuses a manifest of another kind by its path", () => {
  expect(resourceManifest.check(installPlan.example).map(({ path }) => path)).toContain("kind");
});
