import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { CustomResource } from "@quartermaster/runtime/schema";
import { eventually, joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";

import { installPlan, kinds, resourceManifest } from "../../src/index.ts";

const cluster = joinSharedCluster();
afterAll(() => cluster[Symbol.dispose]());

const repository = join(import.meta.dirname, "../../../..");
const collection = ({ kind }: CustomResource, namespace: string): string =>
  kind.scope === "Cluster"
    ? `/apis/${kind.group}/${kind.version}/${kind.plural}`
    : `/apis/${kind.group}/${kind.version}/namespaces/${namespace}/${kind.plural}`;

/** Applies the committed file, not what the code would give now: that is what users get. */
async function establish({ kind }: CustomResource): Promise<void> {
  const file = join(repository, `config/crd/${kind.group}_${kind.plural}.yaml`);
  const name = `${kind.plural}.${kind.group}`;
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  await cluster.api.apply(path, parse(readFileSync(file, "utf8")));
  await eventually(async (see) => {
    const { body } = await cluster.api.send({ path });
    const { status } = JSON.parse(body) as {
      status?: { conditions?: readonly { type: string; status: string; message: string }[] };
    };
    const conditions = see(status?.conditions ?? []);
    const isStated = (type: string): boolean =>
      conditions.some((condition) => condition.type === type && condition.status === "True");
    return isStated("Established") && !isStated("NonStructuralSchema");
  });
}

interface HttpResponse {
  readonly status: number;
  readonly object: { readonly spec: Record<string, unknown>; readonly message?: string };
}

async function create(resource: CustomResource, namespace: string, object: object): Promise<HttpResponse> {
  return await eventually(async (see) => {
    const path = `${collection(resource, namespace)}?fieldValidation=Strict`;
    const response = see(await cluster.api.send({ method: "POST", path, body: object }));
    // The first requests after a CRD is established may still find no one at home.
    return response.status === 404
      ? undefined
      : { status: response.status, object: JSON.parse(response.body) as HttpResponse["object"] };
  });
}

async function change(
  resource: CustomResource,
  location: { readonly namespace: string; readonly name: string },
  spec: object,
): Promise<HttpResponse> {
  const path = `${collection(resource, location.namespace)}/${location.name}`;
  const response = await cluster.api.send({
    method: "PATCH",
    path,
    body: { spec },
    contentType: "application/merge-patch+json",
  });
  return { status: response.status, object: JSON.parse(response.body) as HttpResponse["object"] };
}

interface Groups {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
}

interface Resources {
  readonly resources: readonly { readonly shortNames?: readonly string[] }[];
}

async function read<T>(path: string): Promise<T> {
  return JSON.parse((await cluster.api.send({ path })).body) as T;
}

/** What kubectl explain reads. */
interface OpenApiSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema;
  readonly "x-kubernetes-group-version-kind"?: readonly { readonly group: string; readonly kind: string }[];
}

type Schemas = Readonly<Record<string, OpenApiSchema>>;

function fieldsWithoutDescription(schemas: Schemas, groupVersion: string): readonly string[] {
  const [group = ""] = groupVersion.split("/");
  const ofOurs = Object.entries(schemas).filter(([, schema]) =>
    schema["x-kubernetes-group-version-kind"]?.some(
      (kind) => kind.group === group && !kind.kind.endsWith("List"),
    ),
  );
  expect(ofOurs.length).toBeGreaterThan(0);
  return ofOurs.flatMap(([name, schema]) => fieldsBelow(schema, name));
}

function fieldsBelow(
  { properties = {}, items, additionalProperties }: OpenApiSchema,
  path: string,
): readonly string[] {
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...((field.description ?? "") === "" ? [`${path}.${name}`] : []),
      ...fieldsBelow(field, `${path}.${name}`),
    ]),
    ...[items, additionalProperties].flatMap((each) =>
      each === undefined ? [] : fieldsBelow(each, `${path}[]`),
    ),
  ];
}

describe("the generated definitions", () => {
  beforeAll(async () => {
    await Promise.all(kinds.map(establish));
  });

  test.each(kinds.map((resource) => ({ name: resource.kind.kind, resource })))(
    "[runtime/RT-28] $name is established as structural and takes its documented example",
    async ({ resource }) => {
      await using namespace = await makeNamespace(cluster.api);
      const { status, object } = await create(resource, namespace.name, {
        ...resource.example,
        // Cluster-scoped ones share their names with all tests.
        metadata: { name: resource.kind.scope === "Cluster" ? `example-${namespace.name}` : "example" },
      });
      expect(status, object.message).toBe(201);
    },
  );

  test("kubectl explain has a description for every field of every kind", async () => {
    const groups = new Set(kinds.map(({ kind }) => `${kind.group}/${kind.version}`));
    for (const group of groups) {
      const undescribed = await eventually(async (see) => {
        const { status, body } = await cluster.api.send({ path: `/openapi/v3/apis/${group}` });
        if (see(status) !== 200) return undefined;
        const { components } = JSON.parse(body) as { readonly components: { readonly schemas: Schemas } };
        return fieldsWithoutDescription(components.schemas, group);
      });
      expect(undescribed).toEqual([]);
    }
  });

  test("no short name of ours means another kind of the server", async () => {
    const ours = new Set(kinds.map(({ kind }) => kind.group));
    const groups = await read<Groups>("/apis");
    const versions = groups.groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`);
    const taken = new Set<string>();
    for (const path of ["/api/v1", ...versions.filter((each) => !ours.has(each.split("/")[2] ?? ""))])
      for (const { shortNames = [] } of (await read<Resources>(path)).resources)
        for (const name of shortNames) taken.add(name);
    const short = kinds.flatMap(({ request }) => request.shortNames ?? []);
    expect(taken).toContain("ip");
    expect(short.filter((name) => taken.has(name))).toEqual([]);
    expect(new Set(short).size).toBe(short.length);
  });

  test("[runtime/RT-28] the server fills in the defaults of an InstallPlan", async () => {
    await using namespace = await makeNamespace(cluster.api);
    const { object } = await create(installPlan, namespace.name, {
      ...installPlan.example,
      metadata: { name: "defaults" },
    });
    expect(object.spec).toMatchObject({
      scope: "Namespace",
      approval: "Automatic",
      approved: false,
      historyLimit: 5,
      lifecycle: { revert: "Owned", recreate: true, cleanup: "Delete", protectData: true },
      deletion: { onTimeout: "Wait" },
      retry: { initialSeconds: 5, maxSeconds: 300 },
    });
    expect(object.spec["stages"]).toMatchObject([{ wait: "Ready", timeoutSeconds: 600, concurrency: 1 }]);
  });

  test("keeps fields that cannot be changed, and an approval that was given", async () => {
    await using namespace = await makeNamespace(cluster.api);
    const location = { namespace: namespace.name, name: "fixed" };
    await create(installPlan, namespace.name, { ...installPlan.example, metadata: { name: "fixed" } });
    for (const spec of [
      { serviceAccountName: "other" },
      { scope: "Cluster" },
      { stages: [{ name: "other" }] },
      { replaces: { plans: [{ name: "old" }] } },
    ]) {
      const { status, object } = await change(installPlan, location, spec);
      expect(status, JSON.stringify(spec)).toBe(422);
      expect(object.message).toContain("immutable");
    }
    expect((await change(installPlan, location, { approved: true, paused: true })).status).toBe(200);
    expect((await change(installPlan, location, { approved: false })).object.message).toContain(
      "cannot be taken back",
    );
  });

  test("refuses what contradicts itself, with the path of the field", async () => {
    await using namespace = await makeNamespace(cluster.api);
    const plan = (resource: object): object => ({
      ...installPlan.example,
      metadata: { name: "contradiction" },
      spec: { serviceAccountName: "a", stages: [{ name: "one", resources: [resource] }] },
    });
    const neither = await create(installPlan, namespace.name, plan({ lifecycle: { recreate: false } }));
    expect(neither.object.message).toContain("spec.stages[0].resources[0]");
    expect(neither.object.message).toContain("exactly one of manifest, manifestRef");
    const twice = await create(resourceManifest, namespace.name, {
      ...resourceManifest.example,
      metadata: { name: "twice" },
      spec: {
        manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
        data: "e30=",
        encoding: "gzip",
        sha256: "0".repeat(64),
      },
    });
    expect(twice.object.message).toContain("exactly one of manifest, data, secretKeyRef");
  });
});
