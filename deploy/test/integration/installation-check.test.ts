import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ApiClient } from "@quartermaster/local-cluster";
import {
  AuditLog,
  eventually,
  type LocalCluster,
  type OperatorProcess,
  operatorProgram,
  startLocalCluster,
  startOperator,
  WRITING_VERBS,
} from "@quartermaster/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

import { helm } from "../../manifests/helm.ts";
import { chart } from "../../manifests/render-chart.ts";

const apiChart = `${chart}/charts/quartermaster-api`;
const inNamespace = ["--lease-namespace", "quartermaster"];
const plans = "/apis/install.quartermaster.dev/v1alpha1/namespaces/default/installplans";

const directory = mkdtempSync(join(tmpdir(), "qm-check-"));
let cluster: LocalCluster;
let api: ApiClient;
let audit: AuditLog;

beforeAll(async () => {
  cluster = await startLocalCluster({ kwokNodes: 0, audit: "Metadata" });
  api = new ApiClient(cluster.admin);
  audit = new AuditLog(cluster.auditLogPath ?? "", api);
  // It has no pods, and needs no nodes.
  runHelm(`install quartermaster-api ${apiChart} --namespace quartermaster --create-namespace`);
}, 600_000);

afterAll(async () => {
  api?.[Symbol.dispose]();
  await cluster?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** The chart of a later release, whose definitions have that release and one more field. */
function newerApi(name: string): string {
  const newChart = join(directory, name);
  cpSync(join(import.meta.dirname, "../../..", apiChart), newChart, { recursive: true });
  for (const plural of ["installplans", "resourcemanifests"]) {
    const file = join(newChart, `templates/crds/install.quartermaster.dev_${plural}.yaml`);
    const text = readFileSync(file, "utf8").replace("api-version: 0.0.0", "api-version: 0.1.0");
    const field = "                futureNote:\n                  type: string\n";
    const more = text.replace(
      /^ {12}spec:\n(?: {14}.*\n)*? {14}properties:\n/m,
      (found) => `${found}${field}`,
    );
    writeFileSync(file, more);
  }
  return newChart;
}

function runHelm(line: string): string {
  const { code, stdout, stderr } = helm(line.split(" "), { kubeconfigPath: cluster.kubeconfigPath });
  if (code !== 0) throw new Error(`helm ${line}: ${stderr}`);
  return stdout;
}

async function start(
  flags: readonly string[],
  options: Parameters<typeof startOperator>[2] = {},
): Promise<OperatorProcess> {
  const { server, caPem, token = "" } = cluster.admin;
  return await startOperator({ server, caPem, token }, ["--domains=install-plan", ...flags], options);
}

/** What `/readyz` says. */
async function readiness(
  operator: OperatorProcess,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const port = await eventually(() => /"metricsPort":(\d+)/.exec(operator.output)?.[1]);
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { ok: response.ok, text: await response.text() };
}

/** The operator tells why it is not ready. */
async function complaint(operator: OperatorProcess): Promise<string> {
  return await eventually(
    async (see) => {
      const { ok, text } = see(await readiness(operator));
      return !ok && text.includes("[!]prerequisites") ? text : undefined;
    },
    { withinMs: 30_000 },
  );
}

/** A plan without an account: an operator that acts writes its status. */
async function makePlan(name: string): Promise<void> {
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
  const spec = { serviceAccountName: "absent", stages: [{ name: "only", resources: [{ manifest }] }] };
  const head = { apiVersion: "install.quartermaster.dev/v1alpha1", kind: "InstallPlan", metadata: { name } };
  // For some seconds after a kind is served the admission policies do not know it.
  await eventually(
    async (see) =>
      see(await api.send({ method: "POST", path: plans, body: { ...head, spec } })).status === 201,
    { withinMs: 60_000 },
  );
}

async function hasStatus(name: string): Promise<boolean> {
  const { body } = await api.send({ path: `${plans}/${name}` });
  return body.includes('"observedGeneration"');
}

async function isActedUpon(name: string): Promise<void> {
  // A replica that was killed holds the lease for 15 s.
  await eventually(async () => await hasStatus(name), { withinMs: 60_000 });
}

/** Requests of our operators that change something. */
async function writesSince(position: Awaited<ReturnType<AuditLog["position"]>>): Promise<readonly string[]> {
  const entries = await audit.since(position, { verbs: WRITING_VERBS });
  return entries
    .filter(({ userAgent }) => userAgent.startsWith("quartermaster-operator"))
    .map(({ verb, resource }) => `${verb} ${resource}`);
}

test("[packaging/PK-16] an operator that is newer than the CRDs names them, writes nothing, and continues once they are applied", async () => {
  const newer = join(directory, "newer.mjs");
  const program = readFileSync(operatorProgram(), "utf8");
  const own = 'releaseVersion = "0.0.0"';
  expect(program.split(own)).toHaveLength(2);
  writeFileSync(newer, program.replace(own, 'releaseVersion = "0.1.0"'));
  await makePlan("older-crds");
  const position = await audit.position();
  await using operator = await start(inNamespace, { program: newer });
  const text = await complaint(operator);
  expect(text).toContain("installplans.install.quartermaster.dev (0.0.0)");
  expect(text).toContain("Run helm upgrade with version 0.1.0");
  await eventually(() => operator.output.includes("prerequisite is not met"));

  const newChart = newerApi("newer-api");
  expect(await writesSince(position)).toEqual([]);
  expect(await hasStatus("older-crds")).toBe(false);
  runHelm(`upgrade quartermaster-api ${newChart} --namespace quartermaster`);
  await isActedUpon("older-crds");
  expect((await readiness(operator)).ok).toBe(true);
  runHelm(`upgrade quartermaster-api ${apiChart} --namespace quartermaster`);
  expect(await complaint(operator)).toContain("(0.0.0)");
}, 240_000);

test("[packaging/PK-26] an operator started by hand beside the first is not ready and names the holder", async () => {
  await makePlan("beside");
  const position = await audit.position();
  for (const flags of [[], ["--lease-namespace", "default"]]) {
    await using operator = await start(flags);
    expect(await complaint(operator)).toContain(
      "The operator in namespace quartermaster serves this cluster",
    );
  }
  expect(await writesSince(position)).toEqual([]);
  expect(await hasStatus("beside")).toBe(false);
  await using replica = await start(inNamespace);
  await isActedUpon("beside");
  expect((await readiness(replica)).ok).toBe(true);
}, 240_000);

test("[packaging/PK-34] without the policies an operator that requires them is not ready; one that does not acts and warns", async () => {
  const without = "--set policies.enabled=false";
  const env = { QM_REQUIRE_POLICIES: "true" };
  await using operator = await start(inNamespace, { env });
  await eventually(async () => (await readiness(operator)).ok, { withinMs: 30_000 });
  runHelm(`upgrade quartermaster-api ${apiChart} --namespace quartermaster ${without}`);
  const text = await complaint(operator);
  expect(text).toContain("policy quartermaster-status");
  expect(text).toContain("api.policies.enabled=true");
  const position = await audit.position();
  await makePlan("unprotected");
  // It gave leadership back when the first policy was deleted; nothing of it follows.
  expect((await writesSince(position)).filter((write) => !write.endsWith("leases"))).toEqual([]);
  expect(await hasStatus("unprotected")).toBe(false);

  await using careless = await start(inNamespace, { env: { QM_REQUIRE_POLICIES: "false" } });
  await isActedUpon("unprotected");
  expect(careless.output).toContain("admission policies are not required");
  careless.kill();
  await careless.ended();

  // Without new values Helm takes those of the release.
  runHelm(`upgrade quartermaster-api ${apiChart} --namespace quartermaster --reset-values`);
  await makePlan("protected");
  await isActedUpon("protected");
  expect((await readiness(operator)).ok).toBe(true);
}, 240_000);

test("[packaging/PK-26] a second release is refused before it writes anything", async () => {
  const before = await cluster.kubectl(["get", "clusterroles,validatingadmissionpolicies", "-o", "name"]);
  for (const version of [4, 3] as const) {
    const args = `install second ${chart} --namespace second --create-namespace`.split(" ");
    const { code, stderr } = helm(args, { version, kubeconfigPath: cluster.kubeconfigPath });
    expect({ code, stderr }).toMatchObject({ code: 1 });
    expect(stderr).toMatch(/invalid ownership metadata[^]*quartermaster-api/);
    const left = await cluster.kubectl(["-n", "second", "get", "all,roles,rolebindings,networkpolicies"]);
    expect(left.stderr).toContain("No resources found");
  }
  const after = await cluster.kubectl(["get", "clusterroles,validatingadmissionpolicies", "-o", "name"]);
  expect(after.stdout).toBe(before.stdout);
}, 120_000);

test.each([
  { name: "an unknown key", set: "replica=3", path: "replica" },
  { name: "a wrong type", set: "webhook.replicas=two", path: "/webhook/replicas" },
  { name: "no replica", set: "replicas=0", path: "/replicas" },
  {
    name: "a malformed digest",
    set: "images.operator.digest=sha256:12",
    path: "/images/operator/digest",
  },
  // There is no other scope yet than the cluster.
  { name: "broad permissions in one namespace", set: "rbac.profile=broad,scope=Namespaces", path: "scope" },
])(
  "[packaging/PK-05] $name fails before anything is written, and the message names it",
  async ({ set, path }) => {
    const position = await audit.position();
    for (const version of [4, 3] as const) {
      const args = `install wrong ${chart} --namespace wrong --create-namespace --set ${set}`.split(" ");
      const { code, stderr } = helm(args, { version, kubeconfigPath: cluster.kubeconfigPath });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(path) as string });
    }
    const entries = await audit.since(position, { verbs: WRITING_VERBS });
    expect(entries.filter(({ userAgent }) => userAgent.startsWith("Helm/"))).toEqual([]);
  },
);

test("[packaging/PK-04] with and without a cluster, and again, the same bytes are rendered", () => {
  // As the release that the cluster has, because Helm compares owners with a cluster.
  const calls = [
    ["quartermaster-api", apiChart, "--set", "policies.authorRecord=Always"],
    ["quartermaster", chart, "--set", "api.enabled=false,domains.subscription.enabled=true"],
  ];
  for (const call of calls) {
    const args = ["template", ...call, "--namespace", "quartermaster"];
    const [first, again, withCluster] = [[], [], ["--dry-run=server"]].map((more) => {
      const { kubeconfigPath } = cluster;
      const result = helm([...args, ...more], more.length === 0 ? {} : { kubeconfigPath });
      expect(result).toMatchObject({ code: 0 });
      return result.stdout;
    });
    expect(again).toBe(first);
    expect(withCluster).toBe(first);
  }
  // Nothing that depends on the day, on chance or on what a cluster holds.
  const root = join(import.meta.dirname, "../../..", chart);
  const templates = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => /templates\/.*(?:yaml|tpl|txt)$/i.test(file))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .flatMap((text) => text.match(/\{\{[^}]*\}\}/g) ?? []);
  expect(templates.length).toBeGreaterThan(300);
  const changing = /\b(?:now|ago|lookup|gen[A-Z]\w+|rand\w+|uuidv4|shuffle|htpasswd|bcrypt|getHostByName)\b/;
  expect(templates.filter((text) => changing.test(text))).toEqual([]);
});

test("[packaging/PK-14] a rollback of the operator keeps newer definitions, and a field that only they know survives writes of the older operator", async () => {
  runHelm(`upgrade quartermaster-api ${newerApi("later-api")} --namespace quartermaster --reset-values`);
  const release = `quartermaster ${chart} --namespace quartermaster --set api.enabled=false`;
  runHelm(`install ${release}`);
  runHelm(`upgrade ${release} --set replicas=3`);
  runHelm("rollback quartermaster 1 --namespace quartermaster");
  const crd =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/installplans.install.quartermaster.dev";
  const { body } = await api.send({ path: crd });
  expect(body).toContain('"quartermaster.dev/api-version":"0.1.0"');
  expect(body).toContain('"futureNote"');
  const { body: deployment } = await api.send({
    path: "/apis/apps/v1/namespaces/quartermaster/deployments/quartermaster-operator",
  });
  expect(deployment).toContain('"replicas":2');

  await makePlan("from-the-future");
  const path = `${plans}/from-the-future`;
  const merge = { method: "PATCH", contentType: "application/merge-patch+json" } as const;
  // The new schema is served a moment after it is applied.
  await eventually(async (see) => {
    const changed = await api.send({ ...merge, path, body: { spec: { futureNote: "kept" } } });
    return see(changed.body).includes('"futureNote":"kept"');
  });
  await using older = await start(inNamespace);
  await isActedUpon("from-the-future");
  await eventually(async (see) =>
    see((await api.send({ path })).body).includes("install.quartermaster.dev/clean-up"),
  );
  expect((await api.send({ path })).body).toContain('"futureNote":"kept"');
  expect((await readiness(older)).ok).toBe(true);
}, 240_000);
