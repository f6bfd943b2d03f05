import { readFileSync } from "node:fs";
import { join } from "node:path";

import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

import { chart, renderChart, tryRender } from "../../manifests/render-chart.ts";

const repository = join(import.meta.dirname, "../../..");

const part = z.object({
  type: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
});

interface Leaf extends z.infer<typeof part> {
  readonly path: string;
}

/** The values that a user sets: the ends of the closed objects of the schema. */
function leavesOf(schema: unknown, path: readonly string[] = []): readonly Leaf[] {
  const own = part.parse(schema);
  if (own.additionalProperties !== false) return [{ ...own, path: path.join(".") }];
  return Object.entries(own.properties ?? {})
    .filter(([name]) => name !== "global")
    .flatMap(([name, below]) => leavesOf(below, [...path, name]));
}

const leaves = leavesOf(JSON.parse(readFileSync(join(repository, chart, "values.schema.json"), "utf8")));

/** With these, no value is without effect. */
const everything = [
  "domains.subscription.enabled=true",
  "shareDriver.enabled=true",
  "webhook.autoscaling.enabled=true",
  "webhook.certificates=CertManager",
  "webhook.issuerRef.name=ca",
  "image.registry=registry.example",
];

/** Some value that differs from the default; those that a rule cannot choose by name. */
const chosen: Readonly<Record<string, readonly string[]>> = {
  // On in the values above.
  "domains.subscription.enabled": ["domains.subscription.enabled=false"],
  "shareDriver.enabled": ["shareDriver.enabled=false"],
  "webhook.autoscaling.enabled": ["webhook.autoscaling.enabled=false"],
  "rbac.planNamespaces": ["rbac.planNamespaces={a}"],
  "rbac.extraKinds": ["rbac.extraKinds[0].apiGroup=a.example", "rbac.extraKinds[0].resources={as}"],
  "api.operatorNamespace": ["api.operatorNamespace=other"],
  "api.crds.exclude": ["api.crds.exclude={shares.projectedresource.storage.openshift.io}"],
  "api.policies.authorRecord": ["api.policies.authorRecord=Never"],
  "webhook.certificates": ["webhook.certificates=ServiceCA"],
  "webhook.replicas": ["webhook.replicas=3"],
  "networkPolicy.apiServer.ports": ["networkPolicy.apiServer.ports={8443}"],
  "networkPolicy.apiServer.cidrs": ["networkPolicy.apiServer.cidrs={10.0.0.0/8}"],
  "image.pullPolicy": ["image.pullPolicy=Always"],
  imagePullSecrets: ["imagePullSecrets[0].name=pull"],
  "shareDriver.kubeletPath": ["shareDriver.kubeletPath=/data/kubelet"],
};

/** `--set` of another value. */
function otherValue(leaf: Leaf): readonly string[] {
  const { path, type, default: before, enum: names = [] } = leaf;
  const known = chosen[path];
  if (known !== undefined) return known;
  const other = names.find((name) => name !== before);
  if (other !== undefined) return [`${path}=${other}`];
  if (path.endsWith(".digest")) return [`${path}=sha256:${"a".repeat(64)}`];
  if (path.endsWith("tolerations")) return [`${path}[0].key=dedicated`];
  if (path.endsWith("extraEnv")) return [`${path}[0].name=QM_LOG_LEVEL`, `${path}[0].value=debug`];
  if (type === "boolean") return [`${path}=${String(before !== true)}`];
  if (type === "integer") return [`${path}=${Number(before) + 1}`];
  if (type === "object") return [`${path}.changed=yes`];
  return [`${path}=changed`];
}

let whole = "";
beforeAll(() => {
  whole = renderChart({ values: everything });
}, 600_000);

test("[packaging/PK-06] each value changes the output, has a description and a row in the README", () => {
  const readme = readFileSync(join(repository, chart, "README.md"), "utf8");
  const failed = leaves.flatMap((leaf) => {
    const changes = tryRender({ values: [...everything, ...otherValue(leaf)] });
    const problems = [
      ...(changes.code === 0 ? [] : [changes.stderr]),
      ...(changes.stdout === whole ? ["changes nothing"] : []),
      ...((leaf.description ?? "") === "" ? ["has no description"] : []),
      ...(readme.includes(`| \`${leaf.path}\` |`) ? [] : ["has no row in the README"]),
    ];
    return problems.map((problem) => `${leaf.path}: ${problem}`);
  });
  expect(leaves.length).toBeGreaterThan(60);
  expect(failed).toEqual([]);
}, 300_000);

test("the values are the defaults of the schema, and no others", () => {
  const flat = (value: unknown, path: readonly string[] = []): readonly string[] => {
    const isEnd = leaves.some((leaf) => leaf.path === path.join("."));
    if (isEnd || typeof value !== "object" || value === null) return [path.join(".")];
    return Object.entries(value).flatMap(([name, below]) => flat(below, [...path, name]));
  };
  const own = flat(parse(readFileSync(join(repository, chart, "values.yaml"), "utf8")));
  const values: unknown = parse(
    readFileSync(join(repository, chart, "charts/quartermaster-api/values.yaml"), "utf8"),
  );
  const api = flat(values, ["api"]);
  const all = new Set([...own, ...api]);
  expect([...all].toSorted()).toEqual(leaves.map(({ path }) => path).toSorted());
});

test.each([
  { name: "an unknown key", values: ["replica=3"], says: "replica" },
  { name: "an unknown key further down", values: ["webhook.replica=3"], says: "/webhook" },
  { name: "a wrong type", values: ["webhook.replicas=two"], says: "/webhook/replicas" },
  { name: "no replica", values: ["replicas=0"], says: "/replicas" },
  {
    name: "a digest that is none",
    values: ["images.operator.digest=sha256:12"],
    says: "/images/operator/digest",
  },
  { name: "an unknown key of the API", values: ["api.crd.keep=false"], says: "/api" },
  {
    name: "an issuer that is missing",
    values: ["domains.subscription.enabled=true", "webhook.certificates=CertManager"],
    says: "webhook.issuerRef.name",
  },
])("$name is refused, and the message names it", ({ values, says }) => {
  for (const helm of [4, 3] as const) {
    const { code, stderr } = tryRender({ values, helm });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(says) as string });
  }
});
