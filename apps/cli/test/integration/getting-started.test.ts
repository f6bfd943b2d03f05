import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import {
  commandsOf,
  fencesOf,
  follow,
  followPage,
  isShown,
  outputIn,
  readPage,
  repository,
  type Step,
  typeLine,
  withOutputs,
} from "../support/guide.ts";

/** A cluster of this file's own, as a user has after `make up`. */
const name = `started-${process.pid}`;
let reported = "";
let env: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const { code, output } = await typeLine(`make up ARGS="--name ${name} --profile control-plane"`, {});
  reported = output;
  if (code !== 0) throw new Error(output);
  const kubeconfig = /export KUBECONFIG=(\S+)/.exec(output)?.[1] ?? "";
  const bin = /export PATH=([^:]+):/.exec(output)?.[1] ?? "";
  // kubectl keeps its cache of discovery below the home directory.
  env = {
    KUBECONFIG: kubeconfig,
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    KUBECACHEDIR: join(bin, "../cache"),
  };
}, 300_000);

afterAll(async () => {
  await typeLine(`make down ARGS="--name ${name}"`, {});
});

const gettingStarted: readonly Step[] = [
  { line: "kubectl -n greeting scale deployment greeting --replicas=5" },
  { line: "kubectl -n greeting get deployment greeting", says: /greeting +2\/2/ },
  { line: "kubectl -n greeting label deployment greeting team=hospitality" },
  { line: "kubectl -n greeting get deployment greeting --show-labels", says: /2\/2.*team=hospitality/ },
  { line: "kubectl -n greeting delete service greeting" },
  { line: "kubectl -n greeting get service greeting", says: /greeting +ClusterIP/ },
  {
    line: "kubectl -n greeting events --for installplan/greeting-1",
    says: /Reverted[^]*Deployment greeting\/greeting was changed by kubectl[^]*Recreated/,
  },
  { line: "kubectl apply -f config/samples/replace.yaml" },
  { line: "npx qm plan status greeting-2 -n greeting --watch", says: /greeting-2 {2}Installed/ },
  {
    line: "kubectl -n greeting get installplans",
    says: /greeting-1 +Superseded[^]*greeting-2 +Installed +True/,
  },
  { line: "kubectl -n greeting delete installplan greeting-2" },
  {
    line: "kubectl -n greeting get configmap,deployment,service",
    says: /^NAME[^\n]*\nconfigmap\/kube-root-ca.crt[^\n]*\n$/,
  },
];

const installPlans: readonly Step[] = [
  { line: "kubectl apply --server-side -f config/samples/manual-approval.yaml" },
  {
    line: "kubectl -n careful wait --for=jsonpath={.status.phase}=AwaitingApproval installplan/careful",
    says: /condition met/,
  },
  { line: "npx qm plan diff careful -n careful", code: 3, says: /\+ ConfigMap careful\/careful {2}create/ },
  { line: "npx qm plan approve careful -n careful", says: /approved InstallPlan careful\/careful/ },
  { line: "kubectl -n careful wait --for=condition=Ready installplan/careful", says: /condition met/ },
  { line: "kubectl apply --server-side -f config/samples/adopt.yaml" },
  { line: "kubectl -n adopting wait --for=condition=Ready installplan/adopting", says: /condition met/ },
  {
    line: "kubectl -n adopting get configmap made-by-hand -o jsonpath={.data}",
    says: /^{"colour":"blue","size":"small"}$/,
  },
  {
    line: "kubectl -n adopting annotate configmap made-by-hand install.quartermaster.dev/revert=Off",
    says: /annotated/,
  },
  {
    line: "kubectl -n adopting annotate configmap made-by-hand install.quartermaster.dev/revert-until=2030-01-01T00:00:00Z",
    says: /annotated/,
  },
  { line: "kubectl apply --server-side -f config/samples/with-manifests.yaml" },
  { line: "kubectl -n stored wait --for=condition=Ready installplan/stored", says: /condition met/ },
  { line: "kubectl -n stored delete installplan stored" },
  { line: "kubectl -n stored get configmap stored --ignore-not-found", says: /^$/ },
];

const stripped = '"metadata":{"uid":null,"resourceVersion":null,"ownerReferences":null}';
const backup: readonly Step[] = [
  { line: "kubectl apply --server-side -f config/samples/with-manifests.yaml" },
  { line: "kubectl -n stored wait --for=condition=Ready installplan/stored", says: /condition met/ },
  { line: "mkdir -p .tmp/backup" },
  {
    line: "kubectl -n stored get configmaps -l install.quartermaster.dev/plan-id -o yaml > .tmp/backup/objects.yaml",
  },
  { line: "kubectl -n stored get resourcemanifests,installplans -o yaml > .tmp/backup/plans.yaml" },
  { line: "kubectl -n stored delete installplan stored" },
  { line: "kubectl -n stored wait --for=delete resourcemanifest/stored" },
  {
    line: `kubectl patch --local -f .tmp/backup/objects.yaml --type=merge -p '{${stripped}}' -o json | kubectl create -f -`,
    says: /configmap\/stored created/,
  },
  {
    line: `kubectl patch --local -f .tmp/backup/plans.yaml --type=merge -p '{${stripped},"status":null}' -o json | kubectl create -f -`,
    says: /installplan.install.quartermaster.dev\/stored created/,
  },
  {
    line: "npx qm plan explain stored -n stored",
    code: 3,
    says: /EarlierOwner: .*ConfigMap stored\/stored has the labels of an earlier plan/,
  },
  {
    line: "npx qm plan restore stored -n stored",
    says: /ConfigMap stored\/stored\nconfirmed that InstallPlan stored\/stored was restored/,
  },
  { line: "kubectl -n stored wait --for=condition=Ready installplan/stored", says: /condition met/ },
];

const troubleshooting: readonly Step[] = [
  { line: "kubectl get installplans -A", says: /greeting +greeting-1 +Installed/ },
  { line: "npx qm plan explain greeting-1 -n greeting", says: /greeting-1/ },
  { line: "kubectl -n greeting events --for installplan/greeting-1" },
];

const search =
  "opensearchclusters.opensearch.org,opensearchclusters.opensearch.opster.io,elasticsearchclusters.elasticsearch.k8s.elastic.co";
const licenseKinds = ["enterpriselicenses", "clusterlicenses", "licenseassociations"]
  .map((plural) => `${plural}.elasticsearch.k8s.elastic.co`)
  .join(",");
const everywhere = "--all --all-namespaces";
const uninstall: readonly Step[] = [
  {
    line: `kubectl delete installplans.install.quartermaster.dev ${everywhere} --cascade=orphan --timeout=120s`,
    says: /"greeting-2" deleted/,
  },
  { line: `kubectl delete ${search} ${everywhere} --cascade=orphan --timeout=120s` },
  {
    line: `kubectl delete clusterbundles.subscription.openshift.io,bundles.subscription.openshift.io ${everywhere} --timeout=120s`,
  },
  { line: `kubectl delete ${licenseKinds} ${everywhere} --timeout=120s` },
  {
    line: "kubectl delete --ignore-not-found -f deploy/install.yaml --selector=app.kubernetes.io/component!=api --timeout=120s",
    says: /"quartermaster-subscription-auto" deleted/,
  },
  {
    line: "kubectl delete crd installplans.install.quartermaster.dev",
    code: 1,
    says: /kubectl annotate crd installplans.install.quartermaster.dev quartermaster.dev\/allow-deletion=true/,
  },
  { line: "kubectl get installplans.install.quartermaster.dev --all-namespaces", says: /No resources found/ },
  {
    line: "kubectl annotate --overwrite -f config/crd quartermaster.dev/allow-deletion=true",
    says: /annotated/,
  },
  {
    line: "kubectl delete -f config/crd --timeout=120s",
    says: /"installplans.install.quartermaster.dev" deleted/,
  },
  { line: "kubectl delete --ignore-not-found -f config/policy -f config/rbac -f config/rbac-limited" },
];

const retry = "qm plan retry shop-1";
/** Where a plan of the same name fails. */
const failing = "shop-failing";

function failingPlan(): object {
  const annotations = { "local-cluster.quartermaster.dev/outcome": "fail" };
  const spec = { restartPolicy: "Never", containers: [{ name: "main", image: "nowhere.invalid/none:1" }] };
  const template = { backoffLimit: 0, template: { metadata: { annotations }, spec } };
  const stages = [{ name: "migrate", jobs: [{ name: "migrate", template }] }];
  return {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { name: "shop-1", namespace: failing },
    spec: { serviceAccountName: "installer", stages },
  };
}

/** A namespace with an account for plans, and a kubeconfig that leads there. */
async function openNamespace(
  namespace: string,
  directory: string,
): Promise<Readonly<Record<string, string>>> {
  const KUBECONFIG = join(directory, `${namespace}.kubeconfig`);
  copyFileSync(env["KUBECONFIG"] ?? "", KUBECONFIG);
  const there = { ...env, KUBECONFIG, PATH: `${join(repository, "node_modules/.bin")}:${env["PATH"] ?? ""}` };
  await follow(
    [
      { line: `kubectl create namespace ${namespace}` },
      { line: `kubectl config set-context --current --namespace ${namespace}` },
      { line: "kubectl create serviceaccount installer" },
      {
        line: `kubectl create rolebinding installer --clusterrole=admin --serviceaccount=${namespace}:installer`,
      },
    ],
    there,
  );
  return there;
}

/** `before` prepares what the page assumes. */
const commandLine: readonly (Step & { readonly before?: string })[] = [
  { line: "qm pack shop.yaml --name shop-1 --service-account installer" },
  { line: "qm pack shop.yaml --name shop-1 --stage late=Deployment/shop*", says: /name: "late"/ },
  {
    line: "qm pack shop.yaml --name shop-1 --service-account installer --secrets secretRef --manual --apply",
  },
  { line: "qm plan diff shop-1", code: 3 },
  { line: "qm plan status shop-1", code: 3 },
  { line: "qm plan explain shop-1", code: 3 },
  { line: "qm plan approve shop-1" },
  { before: "kubectl wait --for=condition=Ready installplan/shop-1 --timeout=60s", line: retry },
  {
    before:
      "kubectl delete serviceaccount installer && kubectl create serviceaccount installer && kubectl wait --for=jsonpath={.status.phase}=Degraded installplan/shop-1",
    line: "qm plan trust shop-1",
  },
  { line: "qm rbac shop-1", says: /kind: "RoleBinding"/ },
  { line: "qm pack shop.yaml --name shop-2 --service-account installer --replaces shop-1 --apply" },
  {
    before: "kubectl wait --for=condition=Ready installplan/shop-2 --timeout=60s",
    line: "qm plan rollback shop-2 --dry-run",
    says: /name: "shop-1-again"/,
  },
  { line: "qm plan rollback shop-2" },
  { before: "qm pack shop.yaml --name shop-1 > plan.yaml", line: "qm plan validate plan.yaml" },
  { line: "qm bundle explain -f shop.yaml" },
  { line: "qm version" },
  { line: "qm help", says: /plan rollback/ },
];

const explained = "npx qm license explain docs -n search";
const licenses: readonly Step[] = [
  { line: "kubectl create namespace quartermaster-licenses" },
  {
    line: "npx qm license import config/samples/vendor-license.json | kubectl apply -f -",
    says: /secret\/pool-signatures created\nenterpriselicense\S*\/pool created/,
  },
  { line: "kubectl -n quartermaster-licenses get enterpriselicenses", says: /pool +enterprise/ },
  { line: "kubectl apply -f config/samples/elasticsearch-trial.yaml" },
  {
    line: "npx qm license import config/samples/vendor-license-cluster.json --cluster docs -n search | kubectl apply -f -",
    says: /clusterlicense\S*\/docs created/,
  },
  // Its label requests a trial, and no such license is in the pool: one would have to be started.
  { line: "npx qm license status", code: 3, says: /pool +0\/40[^]*search\/docs +Selected/ },
  // `make up` runs no license controller, and so it says; the simulated engine never answers.
  {
    line: explained,
    code: 3,
    says: /decision +Selected: startTrial[^]*note +No license controller[^]*ClusterNotRunning +platinum/,
  },
  { line: "npx qm license preview add config/samples/vendor-license.json", says: /no cluster changes/ },
  { line: "npx qm license preview delete pool", says: /no cluster changes/ },
  { line: "npx qm license preview at 2031-01-31T00:00:00Z", says: /no cluster changes/ },
  {
    line: "npx qm license export pool -n quartermaster-licenses",
    says: /"issued_to": "Example Corp\."[^]*"cluster_licenses"/,
  },
  {
    line: "kubectl -n search label elasticsearchcluster docs k8s.elastic.co/desired-license=gold --overwrite",
  },
  { line: explained, code: 3, says: /decision +Selected: 893361dc-9749-4997-93cb-802e3d7fa4bb/ },
  { line: "kubectl apply -f config/rbac-limited/optional/licensing.yaml" },
  {
    line: "kubectl create role read-signatures -n quartermaster-licenses --verb get,list,watch --resource secrets",
  },
  {
    line: "kubectl create rolebinding read-signatures -n quartermaster-licenses --role read-signatures --serviceaccount quartermaster:quartermaster-operator",
  },
  { line: "kubectl apply -f config/policy/licensing.yaml", says: /quartermaster-license-tls/ },
];

test("[first-use/17] make up prints what the pages show", () => {
  const [readme = ""] = commandsOf("README.md");
  expect(isShown(reported, outputIn("getting-started.md", "make up"))).toBe(true);
  expect(isShown(reported, outputIn("README.md", readme))).toBe(true);
});

test("[first-use/17] every block of a page is a command, its output, or a file", () => {
  const pages = readdirSync(join(repository, "docs/guides")).filter((page) => page.endsWith(".md"));
  const known = new Set(["sh", "text", "yaml", "json"]);
  const stray = ["README.md", ...pages].flatMap((page) =>
    fencesOf(page)
      .filter(({ language }, at, all) => {
        const hasCommand = all.slice(0, at).findLast((each) => each.language !== "yaml")?.language === "sh";
        return !known.has(language) || (language === "text" && !hasCommand);
      })
      .map(({ text }) => `${page}: ${text}`),
  );
  expect(stray).toEqual([]);
});

test("make up shows the stages as they come and ends with what to try, all of it in the guide", () => {
  expect(reported).toMatch(/Kubernetes v1\.\d+\.\d+ is ready after [\d.]+ s, profile control-plane/);
  expect(reported).toMatch(
    /greeting-1 {2}Installed\n.*\n.*settings {2}1\/1 ready\n.*web {7}2\/2 ready\n.*job ask {2}Succeeded/,
  );
  const args = reported.slice(reported.indexOf("Try next"));
  const tried = [...args.matchAll(/^ {4}((?:kubectl|npx) .*)$/gm)].map(([, line]) => line);
  expect(tried).toHaveLength(8);
  expect(commandsOf("getting-started.md")).toEqual(expect.arrayContaining(tried));
});

test("the commands of the page on troubleshooting show what it says", async () => {
  expect(await followPage("troubleshooting.md", troubleshooting, env)).toBeGreaterThan(0);
});

test("a second make up finds everything running", async () => {
  const { output } = await typeLine(`make up ARGS="--name ${name} --profile control-plane"`, {});
  expect(output).toMatch(/is running already[^]*The operator is running already\./);
  const status = await typeLine(`make status ARGS="--name ${name}"`, {});
  expect(status.output.match(/^operator +\d+ +\d+ MB$/gm)).toHaveLength(1);
});

test(
  "[first-use/17] the commands of the page on the command line print what it shows",
  { timeout: 180_000 },
  async () => {
    expect(commandsOf("cli.md")).toEqual(commandLine.map(({ line }) => line));
    const directory = mkdtempSync(join(tmpdir(), "qm-guide-"));
    const [, yaml = ""] = /```yaml\n([^]*?)```/.exec(readPage("cli.md")) ?? [];
    writeFileSync(join(directory, "shop.yaml"), yaml);
    writeFileSync(join(directory, "failing.json"), JSON.stringify(failingPlan()));
    const [there, elsewhere] = [
      await openNamespace("shop", directory),
      await openNamespace(failing, directory),
    ];
    await follow(
      [
        { line: `kubectl create -f ${join(directory, "failing.json")}` },
        { line: "kubectl wait --for=jsonpath={.status.phase}=Failed installplan/shop-1 --timeout=60s" },
      ],
      elsewhere,
    );
    for (const { before = "true", ...step } of withOutputs("cli.md", commandLine) as typeof commandLine) {
      const location = { directory: directory, read: (output: string) => output.replaceAll(failing, "shop") };
      await follow([{ line: before }], there, location);
      await follow([step], step.line === retry ? elsewhere : there, location);
    }
    rmSync(directory, { recursive: true });
  },
);

test("the commands of the guide to plans do what it says", { timeout: 120_000 }, async () => {
  expect(await followPage("install-plans.md", installPlans, env)).toBeGreaterThan(0);
});

test("the commands of the guide to licenses do what it says", { timeout: 180_000 }, async () => {
  expect(await followPage("licenses.md", licenses, env)).toBeGreaterThan(0);
});

test(
  "the commands of the page on backups bring a plan back with its objects",
  { timeout: 120_000 },
  async () => {
    expect(await followPage("backup.md", backup, env)).toBeGreaterThan(0);
  },
);

test("the guide from make up to make down holds", { timeout: 240_000 }, async () => {
  expect(commandsOf("getting-started.md")).toEqual([
    "make up",
    ...gettingStarted.map(({ line }) => line),
    "make down",
  ]);
  await follow(withOutputs("getting-started.md", gettingStarted), env);
});

test("who follows the guide to uninstall keeps the workloads", { timeout: 240_000 }, async () => {
  const deployment =
    "kubectl -n greeting get deployment greeting -o jsonpath={.metadata.uid},{.status.readyReplicas}";
  await follow(
    [
      { line: "kubectl apply -f config/samples/replace.yaml" },
      { line: "npx qm plan status greeting-2 -n greeting --watch", says: /greeting-2 {2}Installed/ },
    ],
    env,
  );
  const before = await typeLine(deployment, env);
  expect(before.output).toMatch(/^[-0-9a-f]{36},2$/);
  await followPage("uninstall.md", uninstall, env);
  expect(await typeLine(deployment, env)).toEqual(before);
  const kinds = await typeLine(
    "kubectl api-resources --api-group=install.quartermaster.dev --no-headers",
    env,
  );
  expect(kinds.output).not.toContain("InstallPlan");
});

test("make down leaves nothing", { timeout: 120_000 }, async () => {
  const directory = dirname(env["KUBECONFIG"] ?? "");
  const { output } = await typeLine(`make down ARGS="--name ${name}"`, {});
  expect(output).toContain("nothing of it is left");
  expect(existsSync(directory)).toBe(false);
  const left = await typeLine(`ps -eo args= | grep -F ${directory} | grep -v grep`, {});
  expect(left.output).toBe("");
});
