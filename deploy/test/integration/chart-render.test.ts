import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

import { helm } from "../../manifests/helm.ts";
import { manifestFiles } from "../../manifests/manifest-files.ts";
import { chart, chartDigest, renderChart } from "../../manifests/render-chart.ts";

const repository = join(import.meta.dirname, "../../..");
const deploy = join(repository, "deploy");

const container = z.object({
  name: z.string(),
  image: z.string(),
  env: z.array(z.object({ name: z.string(), value: z.string().optional() })).default([]),
});
const object = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  rules: z.array(z.unknown()).optional(),
  spec: z
    .looseObject({
      replicas: z.number().optional(),
      selector: z.looseObject({ matchLabels: z.unknown().optional() }).optional(),
      template: z.object({ spec: z.looseObject({ containers: z.array(container) }) }).optional(),
    })
    .optional(),
});
type Rendered = z.infer<typeof object>;

function objectsIn(text: string): readonly Rendered[] {
  return parseAllDocuments(text)
    .map((each) => each.toJS() as unknown)
    .filter((each) => each !== null && each !== undefined)
    .map((each) => object.parse(each));
}

function rulesOf(objects: readonly Rendered[], kind: string, name: string): readonly string[] {
  const role = objects.find((each) => each.kind === kind && each.metadata.name === name);
  return (role?.rules ?? []).map((rule) => JSON.stringify(rule)).toSorted();
}

function environmentOf(objects: readonly Rendered[], deployment: string): Readonly<Record<string, string>> {
  const found = objects.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === deployment);
  const env = found?.spec?.template?.spec.containers[0]?.env ?? [];
  return Object.fromEntries(env.map(({ name, value = "" }) => [name, value]));
}

beforeAll(() => {
  helm(["version"]);
  helm(["version"], { version: 3 });
}, 900_000);

const domainNames = ["installPlans", "subscription", "licensing", "search"] as const;
const asFlag = {
  installPlans: "install-plan",
  subscription: "subscription",
  licensing: "licensing",
  search: "search",
};

function switches(on: readonly string[]): readonly string[] {
  return domainNames.map((name) => `domains.${name}.enabled=${String(on.includes(name))}`);
}

test.each(Object.entries(manifestFiles))("%s is what Helm renders from the charts", (file, content) => {
  expect(readFileSync(join(deploy, file), "utf8")).toBe(content(chartDigest()));
});

test("every default file of values is free of findings, for Helm 3 and 4 and each Kubernetes", () => {
  const files = readdirSync(join(repository, chart, "ci"));
  expect(files.length).toBeGreaterThan(3);
  for (const file of files)
    for (const version of [3, 4] as const)
      for (const kubernetes of ["1.30.0", "1.34.0", "1.36.0"]) {
        const args = ["lint", "--strict", "--kube-version", kubernetes, "-f", `${chart}/ci/${file}`, chart];
        const { code, stdout, stderr } = helm(args, { version });
        expect({ file, version, code, out: stdout + stderr }).toMatchObject({ code: 0 });
      }
}, 120_000);

test("an older Kubernetes than 1.30 is refused", () => {
  expect(() => renderChart({ kubernetes: "1.29.9" })).toThrow("1.30.0");
});

describe("[packaging/PK-07] each combination of domains", () => {
  const of = (on: readonly string[]): readonly Rendered[] => objectsIn(renderChart({ values: switches(on) }));
  const operatorRules = (objects: readonly Rendered[]): readonly string[] => [
    ...new Set(rulesOf(objects, "ClusterRole", "quartermaster-operator-own")),
  ];
  const without = (rules: readonly string[], base: readonly string[]): readonly string[] =>
    rules.filter((rule) => !base.includes(rule));
  const combinations = [...Array(16).keys()].map((bits) =>
    domainNames.filter((_, at) => (bits >> at) % 2 === 1),
  );

  test("has exactly the rules of its domains, and runs exactly them", () => {
    const none = operatorRules(of([]));
    const alone = new Map(domainNames.map((name) => [name, operatorRules(of([name]))]));
    for (const on of combinations) {
      const objects = of(on);
      const want = [...none, ...on.flatMap((name) => without(alone.get(name) ?? [], none))];
      expect({ on, rules: operatorRules(objects) }).toEqual({ on, rules: [...new Set(want)].toSorted() });
      const domains = on.map((name) => asFlag[name]).join(",");
      expect(environmentOf(objects, "quartermaster-operator")["QM_DOMAINS"]).toBe(domains);
      const operator = objects.find(
        ({ metadata, kind }) => kind === "Deployment" && metadata.name === "quartermaster-operator",
      );
      expect(operator?.spec?.replicas).toBe(on.length === 0 ? 0 : 2);
      const hasWebhook = objects.some(({ metadata }) => metadata.name === "quartermaster-webhook");
      expect(hasWebhook).toBe(on.includes("subscription"));
    }
  }, 120_000);

  test("has rules that config/rbac-limited has, and all of them together", () => {
    const files = [
      "operator.yaml",
      "optional/licensing.yaml",
      "optional/search.yaml",
      "optional/subscription.yaml",
    ];
    const shipped = files
      .flatMap((file) => objectsIn(readFileSync(join(repository, "config/rbac-limited", file), "utf8")))
      .filter(({ kind, metadata }) => kind === "ClusterRole" && metadata.name !== "quartermaster-operator")
      .flatMap(({ rules = [] }) => rules.map((rule) => JSON.stringify(rule)));
    const all = operatorRules(of(domainNames));
    expect(all).toEqual([...new Set(shipped)].toSorted());
  });
});

test("[packaging/PK-35] authors are recorded on 1.36, not on 1.35, and as the value says", () => {
  const count = (kubernetes: string, value: string, version: 3 | 4): number =>
    objectsIn(
      renderChart({ kubernetes, helm: version, values: [`api.policies.authorRecord=${value}`] }),
    ).filter(({ kind }) => kind === "MutatingAdmissionPolicy").length;
  for (const version of [3, 4] as const)
    expect(
      ["Auto", "Always", "Never"].map((value) => [
        count("1.35.4", value, version),
        count("1.36.0", value, version),
      ]),
    ).toEqual([
      [0, 2],
      [2, 2],
      [0, 0],
    ]);
}, 60_000);

test("every image comes from the registry that is set", () => {
  const registry = "registry.example/mirror";
  const values = [`image.registry=${registry}`, ...switches(domainNames), "shareDriver.enabled=true"];
  const objects = objectsIn(renderChart({ values }));
  const images = objects.flatMap(({ spec }) =>
    (spec?.template?.spec.containers ?? []).flatMap(({ image, env }) => [
      image,
      ...env.filter(({ name }) => name.endsWith("_IMAGE")).map(({ value = "" }) => value),
    ]),
  );
  expect([...new Set(images)].toSorted()).toEqual([
    `${registry}/operator:0.0.0`,
    `${registry}/search-exporter:0.0.0`,
    `${registry}/share-driver:0.0.0`,
  ]);
  expect(renderChart({ values })).not.toContain("quartermaster.local");
});

test("a digest takes precedence over the tag", () => {
  const digest = `sha256:${"0".repeat(64)}`;
  const text = renderChart({ values: [`images.operator.digest=${digest}`, "image.tag=v9"] });
  expect(text).toContain(`image: quartermaster.local/operator@${digest}\n`);
});

test("selectors are two constant labels", () => {
  const values = [
    ...switches(domainNames),
    "shareDriver.enabled=true",
    "operator.podLabels.app\\.kubernetes\\.io/name=x",
  ];
  const selectors = objectsIn(renderChart({ values })).flatMap(({ kind, metadata, spec }) =>
    kind === "Deployment" || kind === "DaemonSet" ? [[metadata.name, spec?.selector?.matchLabels]] : [],
  );
  const labels = (name: string): object => ({
    "app.kubernetes.io/name": name,
    "app.kubernetes.io/instance": "quartermaster",
  });
  const names = ["quartermaster-share-driver", "quartermaster-operator", "quartermaster-webhook"];
  expect(Object.fromEntries(selectors)).toEqual(
    Object.fromEntries(names.map((name) => [name, labels(name)])),
  );
  expect(renderChart({ values })).not.toContain('app.kubernetes.io/name: "x"');
});

test.each([
  {
    certificates: "CertManager",
    more: ["webhook.issuerRef.name=ca"],
    want: { QM_WEBHOOK_CA_FILE: "/certificates/ca.crt" },
  },
  {
    certificates: "ServiceCA",
    more: [],
    want: { QM_WEBHOOK_CA_CONFIGMAP: "quartermaster-webhook-service-ca" },
  },
])("with $certificates the webhook has that certificate", ({ certificates, more, want }) => {
  const values = ["domains.subscription.enabled=true", `webhook.certificates=${certificates}`, ...more];
  expect(environmentOf(objectsIn(renderChart({ values })), "quartermaster-webhook")).toEqual({
    QM_DOMAINS: "subscription",
    QM_ROLES: "webhook",
    QM_WEBHOOK_SERVICE: "quartermaster/quartermaster-webhook",
    QM_SUBSCRIPTION_CONFIG: "/settings/subscription.json",
    QM_WEBHOOK_CERT_FILE: "/certificates/tls.crt",
    QM_WEBHOOK_KEY_FILE: "/certificates/tls.key",
    ...want,
  });
});

test("every variable that a chart sets is one that the operator knows", () => {
  const page = readFileSync(join(repository, "docs/reference/operator.md"), "utf8");
  const values = [...switches(domainNames), "webhook.certificates=CertManager", "webhook.issuerRef.name=ca"];
  const objects = objectsIn(renderChart({ values }));
  const names = ["quartermaster-operator", "quartermaster-webhook"].flatMap((name) =>
    Object.keys(environmentOf(objects, name)),
  );
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("the broad profile adds to the aggregated role and sets no field of the controller that aggregates", () => {
  const objects = objectsIn(renderChart({ values: ["rbac.profile=broad"] }));
  expect(rulesOf(objects, "ClusterRole", "quartermaster-operator")).toEqual([]);
  const broad = rulesOf(objects, "ClusterRole", "quartermaster-operator-broad");
  expect(broad).toContain(
    JSON.stringify({ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }),
  );
  const limited = objectsIn(renderChart({}));
  expect(limited.some(({ metadata }) => metadata.name === "quartermaster-operator-broad")).toBe(false);
});

test("a variable of extraEnv replaces ours, once", () => {
  const values = ["operator.extraEnv[0].name=QM_REQUIRE_POLICIES", "operator.extraEnv[0].value=false"];
  const text = renderChart({ values });
  expect(text.match(/name: QM_REQUIRE_POLICIES/g)).toHaveLength(1);
});
