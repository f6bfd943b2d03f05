import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import { isJsonObject, type JsonObject, type KubeObject, realSystem } from "@quartermaster/runtime";
import { secrets, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

import { aCluster, aPool, isReady, messageOf, setUpSearch } from "../support/search-bench.ts";

const repository = join(import.meta.dirname, "../../../..");
const fixtures = join(
  realSystem().env["QM_FIXTURES"] ?? join(repository, "../shared/fixtures"),
  "opensearch-upstream",
);
const isPresent = existsSync(fixtures);

/** Clusters of upstream's examples, each in both groups. */
function examples(): readonly (readonly [string, KubeObject])[] {
  if (!isPresent) return [];
  const folder = join(fixtures, "examples");
  return readdirSync(folder).flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), "utf8"))
      .map((document) => document.toJS() as KubeObject)
      .filter((object) => object?.kind === "OpenSearchCluster")
      .flatMap((object) =>
        ["opensearch.opster.io/v1", "opensearch.org/v1"].map(
          (apiVersion) => [`${file}, ${apiVersion}`, { ...object, apiVersion }] as const,
        ),
      ),
  );
}

describe.skipIf(!isPresent)("files of upstream (fixtures not present: skipped)", () => {
  test.for(examples())(
    "[search/SC-01] %s: accepted as it is; Ready, or a documented reason",
    async ([, object]) => {
      await using bench = await setUpSearch();
      const { client, namespace } = bench;
      const { name } = object.metadata;
      for (const secret of ["opensearch-tls", "securityconfig-secret"])
        await client.create(secrets, {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: secret, namespace },
          stringData: { "tls.crt": "x", "tls.key": "x" },
        });
      const kind = object.apiVersion.startsWith("opensearch.org/")
        ? openSearchCluster.kind
        : opsterOpenSearchCluster.kind;
      await bench.create(object);
      const isHttpOurs = !JSON.stringify(object).includes("opensearch-tls");
      const found = await bench.until(
        name,
        (each) =>
          isReady(each) ||
          each.status?.blockers?.some(({ reason }) => reason === "Unreachable") === true ||
          (!isHttpOurs && each.status?.bootstrap?.mode !== undefined),
        kind,
      );
      expect(isReady(found), messageOf(found)).toBe(isHttpOurs);
      const { spec } = object as unknown as { readonly spec: { readonly nodePools: readonly Pool[] } };
      const wanted = spec.nodePools
        .map((pool) => `${name}-${pool.component} ${String(pool.replicas)}`)
        .toSorted();
      const made = await eventually(async (see) => {
        const sets = await Array.fromAsync(client.list(statefulSets, { namespace }));
        const all = see(sets.map((set) => `${set.metadata.name} ${String(set.spec.replicas)}`).toSorted());
        return all.length === wanted.length ? all : undefined;
      });
      expect(made).toEqual(wanted);
    },
  );

  test("[search/SC-05] every field of upstream's CRD survives a round trip, in both groups; each CRD is below 256 KB", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    const file = "opensearch.org_opensearchclusters.yaml";
    const crd = parse(readFileSync(join(fixtures, "crds", file), "utf8")) as {
      readonly spec: {
        readonly versions: readonly {
          readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: Schema } } };
        }[];
      };
    };
    const schema = crd.spec.versions[0]?.schema.openAPIV3Schema.properties.spec;
    if (schema === undefined) throw new Error("no schema");
    const spec = sample(schema, "spec") as JsonObject;
    for (const kind of [openSearchCluster.kind, opsterOpenSearchCluster.kind]) {
      const body = {
        apiVersion: `${kind.group}/v1`,
        kind: kind.kind,
        metadata: { name: "sample", namespace: bench.namespace },
        spec,
      };
      const made = (await bench.client.create(kind, body as never, { dryRun: true })) as unknown as {
        readonly spec: JsonObject;
      };
      expect(missing(spec, made.spec, "spec")).toEqual([]);
      expect(statSync(join(repository, `config/crd/${kind.group}_${kind.plural}.yaml`)).size).toBeLessThan(
        256 * 1024,
      );
    }
  });
});

interface Pool {
  readonly component: string;
  readonly replicas: number;
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly enum?: readonly unknown[];
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

/** Names whose values must make sense. */
const sensible: Readonly<Record<string, unknown>> = {
  component: "nodes",
  duration: "100h",
  version: "2.19.4",
  roles: ["cluster_manager"],
  httpPort: 9200,
  replicas: 1,
  initContainers: [{ name: "one" }],
  sidecarContainers: [{ name: "one" }],
};

/** A value with every field that the schema has. */
function sample(schema: Schema, name: string): unknown {
  if (name in sensible) return sensible[name];
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema["x-kubernetes-int-or-string"] === true) return "1Gi";
  if (name === "additionalVolumes" && schema.items !== undefined) return volumes(schema.items);
  switch (schema.type) {
    case "object":
      return sampleObject(schema);
    case "array":
      return [sample(schema.items ?? {}, `${name}[]`)];
    case "integer":
      return 1;
    case "boolean":
      return true;
    case undefined:
    default:
      return "text";
  }
}

function sampleObject({ properties = {}, additionalProperties }: Schema): JsonObject {
  const fields = Object.entries(properties).map(([key, value]) => [key, sample(value, key)] as const);
  const extra = isJsonObject(additionalProperties)
    ? [["key", sample(additionalProperties, "*")] as const]
    : [];
  return Object.fromEntries([...fields, ...extra]);
}

/** One volume for each source: exactly one may be set. */
function volumes(item: Schema): readonly unknown[] {
  const whole = sampleObject(item);
  const common = ["name", "path", "subPath", "restartPods"];
  const sources = Object.keys(whole).filter((key) => !common.includes(key));
  return sources.map((source) =>
    Object.fromEntries([...common, source].filter((key) => key in whole).map((key) => [key, whole[key]])),
  );
}

/** Paths of fields that are not there, or differ. */
function missing(want: unknown, got: unknown, path: string): readonly string[] {
  if (Array.isArray(want))
    return Array.isArray(got)
      ? want.flatMap((item, at) => missing(item, got[at], `${path}[${String(at)}]`))
      : [path];
  if (isJsonObject(want))
    return isJsonObject(got)
      ? Object.entries(want).flatMap(([key, value]) => missing(value, got[key], `${path}.${key}`))
      : [path];
  return want === got ? [] : [path];
}

describe("what upstream's users write", () => {
  test.for(["Opensearch", "Op", "OP", "os", "opensearch"])(
    "[search/SC-04] vendor %s is understood",
    async (vendor) => {
      await using bench = await setUpSearch({ isOperating: false });
      const made = await bench.create(aCluster("logs", { general: { vendor }, pools: [aPool("nodes", 1)] }));
      expect(made.spec.general.serviceName).toBe("logs");
    },
  );

  test.for<[string, object]>([
    ["no pools", { general: { serviceName: "logs" } }],
    ["an unknown field", { foo: "bar" }],
    [
      "a pool without roles",
      { general: { serviceName: "logs" }, nodePools: [{ component: "a", replicas: 1 }] },
    ],
  ])("[search/SC-03] a broken scaffold is refused by the API server: %s", async ([, spec]) => {
    await using bench = await setUpSearch({ isOperating: false });
    const body = {
      apiVersion: "opensearch.org/v1",
      kind: "OpenSearchCluster",
      metadata: { name: "logs" },
      spec,
    };
    await expect(bench.create(body)).rejects.toThrow(/422|400/);
  });
});
