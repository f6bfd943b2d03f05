import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import {
  fieldOf,
  isJsonObject,
  type JsonObject,
  type Kind,
  type KubeObject,
  realSystem,
} from "@quartermaster/runtime";
import {
  configMaps,
  customResourceDefinitions,
  deployments,
  networkPolicies,
  podDisruptionBudgets,
  secrets,
  services,
  statefulSets,
} from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

import { ownerLabels } from "../../src/owner-labels.ts";
import { aCluster, aPool, isReady, type SearchBench, setUpSearch } from "../support/search-bench.ts";
import { TestCa } from "../support/test-certificates.ts";

const repository = join(import.meta.dirname, "../../../..");
const fixtures = join(
  realSystem().env["QM_FIXTURES"] ?? join(repository, "../shared/fixtures"),
  "opensearch-upstream",
);
const isPresent = existsSync(fixtures);

const groups = [openSearchCluster.kind, opsterOpenSearchCluster.kind];

/** Clusters of upstream's examples by file. */
function examples(): readonly (readonly [string, KubeObject])[] {
  if (!isPresent) return [];
  const directory = join(fixtures, "examples");
  return readdirSync(directory).flatMap((file) =>
    documentsIn(join(directory, file))
      .filter((object) => object?.kind === "OpenSearchCluster")
      .map((object) => [file, object] as const),
  );
}

function documentsIn(file: string): readonly KubeObject[] {
  return parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as KubeObject);
}

/** Secrets that the examples refer to: upstream's own, and what cert-manager would issue for the name in the example. */
async function giveSecrets({ client, namespace }: SearchBench): Promise<void> {
  const ca = await TestCa.create();
  const name = "opensearch.example.com";
  const issued = await ca.issue({ subject: { commonName: name }, usages: ["server"], dnsNames: [name] });
  await client.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "opensearch-tls", namespace },
    stringData: { "tls.crt": issued.certificatePem, "tls.key": issued.keyPem, "ca.crt": ca.caPem },
  });
  for (const object of documentsIn(join(fixtures, "examples/securityconfig-secret.yaml")))
    await client.create(secrets, { ...object, metadata: { name: object.metadata.name, namespace } });
}

const childKinds: readonly Kind[] = [
  statefulSets,
  services,
  configMaps,
  secrets,
  podDisruptionBudgets,
  networkPolicies,
  deployments,
];

/** Everything that was made for a cluster, without what differs between any two namespaces: uids, keys, certificates, passwords. */
async function childrenOf(
  { client, namespace }: SearchBench,
  owner: KubeObject,
): Promise<Readonly<Record<string, unknown>>> {
  const lists = await Promise.all(
    childKinds.map(async (kind) => await Array.fromAsync(client.list(kind, { namespace }))),
  );
  const ours = lists
    .flat()
    .filter(({ metadata }) => metadata.labels?.[ownerLabels.cluster] === owner.metadata.name);
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value ?? {})
        .replaceAll(namespace, "NAMESPACE")
        .replaceAll(owner.metadata.uid ?? "", "UID")
        .replaceAll(/quartermaster-search-(\w+)-[0-9a-f]{8}/g, "quartermaster-search-$1")
        .replaceAll(/"clusterIPs?":(?:"[^"]*"|\[[^\]]*\])/g, '"clusterIP":"IP"'),
    );
  return Object.fromEntries(
    ours.map((child) => {
      const { kind, metadata } = child;
      const content =
        kind === "Secret"
          ? Object.keys(fieldOf(child, "data") ?? {}).toSorted()
          : [fieldOf(child, "spec"), fieldOf(child, "data")];
      // Pods of Deployments follow the passwords and certificates that they are given, which differ between any two clusters.
      const isOfDeployment = kind === "Deployment";
      const labels = Object.keys(metadata.labels ?? {}).toSorted();
      return [
        `${kind} ${metadata.name}`,
        { content: plain(isOfDeployment ? withoutHashes(content) : content), labels },
      ];
    }),
  );
}

function withoutHashes(content: unknown): unknown {
  return JSON.parse(
    JSON.stringify(content).replaceAll(/("[a-z.-]*\/[a-z-]*hash"):"[0-9a-f]+"/g, '$1:"HASH"'),
  );
}

/** Applies an example and gives what came of it, once its budget is that of a cluster that is well. */
async function carriedOut(
  bench: SearchBench,
  object: KubeObject,
): Promise<Readonly<Record<string, unknown>>> {
  await giveSecrets(bench);
  await bench.create(object);
  const kind = groups.find(({ group }) => object.apiVersion === `${group}/v1`);
  const ready = await bench.until(object.metadata.name, isReady, kind);
  const ref = { namespace: bench.namespace, name: `${object.metadata.name}-pdb` };
  await eventually(async (see) => {
    const { spec } = await bench.client.get(podDisruptionBudgets, ref);
    return see(spec)?.maxUnavailable === 1 || undefined;
  });
  return await childrenOf(bench, ready);
}

describe.skipIf(!isPresent)("files of upstream (fixtures not present: skipped)", () => {
  test.for(examples())(
    "[search/SC-01] %s: accepted as it is and Ready in both groups, with the same children",
    async ([, object]) => {
      await using newer = await setUpSearch();
      await using older = await setUpSearch();
      const [ofNewer, ofOlder] = await Promise.all([
        carriedOut(newer, { ...object, apiVersion: "opensearch.org/v1" }),
        carriedOut(older, { ...object, apiVersion: "opensearch.opster.io/v1" }),
      ]);
      const { name } = object.metadata;
      const { spec } = object as unknown as { readonly spec: { readonly nodePools: readonly Pool[] } };
      const sets = spec.nodePools.map(({ component }) => `StatefulSet ${name}-${component}`);
      expect(Object.keys(ofNewer)).toEqual(expect.arrayContaining(sets));
      expect(ofOlder).toEqual(ofNewer);
    },
  );

  test.for(groups)(
    "[search/SC-05] every field of upstream's CRD survives a round trip: $group",
    async (kind) => {
      await using bench = await setUpSearch({ isOperating: false });
      const crd = parse(readFileSync(join(fixtures, `crds/${kind.group}_${kind.plural}.yaml`), "utf8")) as {
        readonly spec: {
          readonly versions: readonly {
            readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: Schema } } };
          }[];
        };
      };
      const schema = crd.spec.versions[0]?.schema.openAPIV3Schema.properties.spec;
      if (schema === undefined) throw new Error("no schema");
      const spec = sample(schema, "spec") as JsonObject;
      const ref = { name: "sample", namespace: bench.namespace };
      const body = { apiVersion: `${kind.group}/v1`, kind: kind.kind, metadata: ref, spec };
      await bench.client.create(kind, body as never);
      const read = (await bench.client.get(kind, ref)) as unknown as { readonly spec: JsonObject };
      expect(missing(spec, read.spec, "spec")).toEqual([]);
    },
  );

  test("[search/SC-05] each CRD is below 256 KB, and can be applied as kubectl does without --server-side", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    const applied = async (name: string, file: string): Promise<unknown> => {
      const last = `${JSON.stringify(parse(readFileSync(file, "utf8")))}\n`;
      const body = {
        metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": last } },
      };
      return await bench.client.patch(
        customResourceDefinitions,
        { name },
        { patch: { kind: "merge", body }, dryRun: true },
      );
    };
    const directory = join(repository, "config/crd");
    const files = readdirSync(directory).filter((file) => /^(?:opensearch|elasticsearch)\./.test(file));
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) {
      expect(statSync(join(directory, file)).size).toBeLessThan(256 * 1024);
      const [group = "", plural = ""] = file.replace(".yaml", "").split("_");
      await applied(`${plural}.${group}`, join(directory, file));
    }
    // The API server refuses upstream's, for whose size this rule is.
    const theirs = join(fixtures, "crds/opensearch.org_opensearchclusters.yaml");
    await expect(applied("opensearchclusters.opensearch.org", theirs)).rejects.toThrow(/Too long/);
  });
});

interface Pool {
  readonly component: string;
}

const vendors = ["Opensearch", "Op", "OP", "os", "opensearch"];

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
  test("all five spellings of the vendor are accepted by the API server, and no other", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    for (const [at, vendor] of vendors.entries())
      await bench.create(aCluster(`c${String(at)}`, { general: { vendor }, pools: [aPool("nodes", 1)] }));
    const other = aCluster("other", { general: { vendor: "Elastic" }, pools: [aPool("nodes", 1)] });
    await expect(bench.create(other)).rejects.toThrow(/422/);
  });

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
