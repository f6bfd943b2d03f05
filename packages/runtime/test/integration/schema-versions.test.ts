import { randomBytes } from "node:crypto";

import { eventually, joinSharedCluster, makeNamespace, type SharedCluster } from "@quartermaster/testkit";
import { expect, test } from "vitest";
import { z } from "zod";

import type { CelRule, CustomResource } from "../../src/schema/index.ts";
import { defineCustomResource } from "../../src/schema/index.ts";

const nameRule: CelRule = {
  rule: "self.metadata.name.matches('^[a-z]{1,8}$')",
  message: "the name is one to eight lower-case letters",
  reason: "FieldValueInvalid",
  fieldPath: ".metadata.name",
};

const sizeRule: CelRule = {
  rule: "self.metadata.name != 'tiny' || self.spec.size < 3",
  message: "an object called tiny has a size below 3",
  reason: "FieldValueForbidden",
  fieldPath: ".spec.size",
};

/** v1 is what code works with and what is stored; v1alpha1 is older, v0 no longer answered. */
function versioned(): CustomResource {
  const status = z.object({ note: z.string().optional() });
  const spec = z.object({ size: z.int().default(1) });
  const common = { status, columns: [] };
  return defineCustomResource({
    group: `v${randomBytes(4).toString("hex")}.example.org`,
    version: "v1",
    kind: "Crate",
    plural: "crates",
    scope: "Namespaced",
    description: "A crate.",
    ...common,
    spec,
    columns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
    rules: [nameRule, sizeRule],
    otherVersions: [
      {
        ...common,
        version: "v1alpha1",
        spec: spec.extend({ legacy: z.string().optional() }),
        deprecated: true,
        deprecationWarning: "Crate of v1alpha1 is deprecated; use v1",
        rules: [nameRule],
      },
      { ...common, version: "v0", spec, served: false },
    ],
    conversion: { strategy: "None" },
    example: { metadata: { name: "one" }, spec: { size: 2 } },
  });
}

async function serve({ api }: SharedCluster, resource: CustomResource): Promise<void> {
  const { kind } = resource;
  const name = `${kind.plural}.${kind.group}`;
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  await api.apply(path, resource.definition());
  const isServed = async (version: string): Promise<boolean> =>
    (await api.send({ path: `/apis/${kind.group}/${version}/crates` })).status === 200;
  await eventually(async () => (await isServed("v1")) && (await isServed("v1alpha1")));
}

test("[runtime/RT-28] every served version of a kind is readable, and one that is not served is absent", async () => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "versions");
  const crates = versioned();
  await serve(cluster, crates);
  const { group } = crates.kind;
  const path = (version: string): string => `/apis/${group}/${version}/namespaces/${namespace.name}/crates`;
  await cluster.api.apply(`${path("v1alpha1")}/one`, {
    apiVersion: `${group}/v1alpha1`,
    kind: "Crate",
    metadata: { name: "one" },
    spec: { legacy: "x" },
  });
  const read = async (version: string): Promise<unknown> =>
    JSON.parse((await cluster.api.send({ path: `${path(version)}/one` })).body);
  // Stored as v1, whose schema has no `legacy`: with the strategy None the schemas have to agree.
  expect(await read("v1")).toMatchObject({ apiVersion: `${group}/v1`, spec: { size: 1 } });
  expect(await read("v1alpha1")).toMatchObject({ apiVersion: `${group}/v1alpha1`, spec: { size: 1 } });
  expect((await cluster.api.send({ path: path("v0") })).status).toBe(404);
  const definition = await cluster.api.send({
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crates.${group}`,
  });
  expect(JSON.parse(definition.body)).toMatchObject({
    status: { storedVersions: ["v1"] },
    spec: {
      versions: [
        { name: "v1" },
        { name: "v1alpha1", deprecated: true, deprecationWarning: "Crate of v1alpha1 is deprecated; use v1" },
        { name: "v0", served: false },
      ],
    },
  });
});

test.each([
  { name: "two.words", size: 1, version: "v1", want: nameRule, field: "metadata.name" },
  { name: "toolongname", size: 1, version: "v1alpha1", want: nameRule, field: "metadata.name" },
  { name: "tiny", size: 3, version: "v1", want: sizeRule, field: "spec.size" },
])("[runtime/RT-28] a rule of the whole object refuses $name of size $size with its message", async (row) => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "versions");
  const crates = versioned();
  await serve(cluster, crates);
  const apiVersion = `${crates.kind.group}/${row.version}`;
  const { name } = row;
  const response = await cluster.api.send({
    method: "POST",
    path: `/apis/${apiVersion}/namespaces/${namespace.name}/crates`,
    body: { apiVersion, kind: "Crate", metadata: { name }, spec: { size: row.size } },
  });
  expect(response.status).toBe(422);
  const { details } = JSON.parse(response.body) as { details: { causes: readonly object[] } };
  expect(details.causes).toContainEqual({
    reason: row.want.reason,
    field: row.field,
    message: expect.stringContaining(row.want.message) as unknown,
  });
});
