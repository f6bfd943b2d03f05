import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { commandsOf, follow, type Step, typeLine } from "../support/guide.ts";

/** A cluster of this file's own, as a person has after `make up`. */
const name = `started-${process.pid}`;
let told = "";
let env: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const { code, said } = await typeLine(`make up ARGS="--name ${name} --profile control-plane"`, {});
  told = said;
  if (code !== 0) throw new Error(said);
  const kubeconfig = /export KUBECONFIG=(\S+)/.exec(said)?.[1] ?? "";
  const bin = /export PATH=([^:]+):/.exec(said)?.[1] ?? "";
  // kubectl keeps its cache of discovery below the home folder.
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
const licenceKinds = ["enterpriselicenses", "clusterlicenses", "licenseassociations"]
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
  { line: `kubectl delete ${licenceKinds} ${everywhere} --timeout=120s` },
  { line: "kubectl delete --ignore-not-found -f deploy/operator.yaml" },
  {
    line: "kubectl -n quartermaster wait --for=delete pod --selector=app.kubernetes.io/name=quartermaster-operator --timeout=120s",
  },
  {
    line: "kubectl delete mutatingwebhookconfigurations quartermaster-subscription quartermaster-subscription-auto --ignore-not-found",
  },
  { line: "kubectl delete --ignore-not-found -f deploy/webhook.yaml" },
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

const explained = "npx qm license explain docs -n search";
const licences: readonly Step[] = [
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
  // Its label asks for a trial, and no such licence is in the pool: one would have to be started.
  { line: "npx qm license status", code: 3, says: /pool +0\/40[^]*search\/docs +Selected/ },
  { line: explained, says: /decision +Selected: startTrial[^]*TypeMismatch +platinum/ },
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
  { line: explained, says: /decision +Selected: 893361dc-9749-4997-93cb-802e3d7fa4bb/ },
  { line: "kubectl apply -f config/rbac-limited/optional/licensing.yaml" },
  {
    line: "kubectl create role read-signatures -n quartermaster-licenses --verb get,list,watch --resource secrets",
  },
  {
    line: "kubectl create rolebinding read-signatures -n quartermaster-licenses --role read-signatures --serviceaccount quartermaster:quartermaster",
  },
  { line: "kubectl apply -f config/policy/licensing.yaml", says: /quartermaster-license-tls/ },
];

test("make up shows the stages as they come and ends with what to try, all of it in the guide", () => {
  expect(told).toMatch(/Kubernetes v1\.\d+\.\d+ is ready after [\d.]+ s, profile control-plane/);
  expect(told).toMatch(
    /greeting-1 {2}Installed\n.*\n.*settings {2}1\/1 ready\n.*web {7}2\/2 ready\n.*job ask {2}Succeeded/,
  );
  const words = told.slice(told.indexOf("Try next"));
  const tried = [...words.matchAll(/^ {4}((?:kubectl|npx) .*)$/gm)].map(([, line]) => line);
  expect(tried).toHaveLength(8);
  expect(commandsOf("getting-started.md")).toEqual(expect.arrayContaining(tried));
});

test("the commands of the page on troubleshooting show what it says", async () => {
  expect(commandsOf("troubleshooting.md")).toEqual(troubleshooting.map(({ line }) => line));
  await follow(troubleshooting, env);
});

test("a second make up finds everything running", async () => {
  const { said } = await typeLine(`make up ARGS="--name ${name} --profile control-plane"`, {});
  expect(said).toMatch(/is running already[^]*The operator is running already\./);
  const status = await typeLine(`make status ARGS="--name ${name}"`, {});
  expect(status.said.match(/^operator +\d+ +\d+ MB$/gm)).toHaveLength(1);
});

test("the commands of the guide to plans do what it says", { timeout: 120_000 }, async () => {
  expect(commandsOf("install-plans.md")).toEqual(installPlans.map(({ line }) => line));
  await follow(installPlans, env);
});

test("the commands of the guide to licences do what it says", { timeout: 180_000 }, async () => {
  expect(commandsOf("licences.md")).toEqual(licences.map(({ line }) => line));
  await follow(licences, env);
});

test(
  "the commands of the page on backups bring a plan back with its objects",
  { timeout: 120_000 },
  async () => {
    expect(commandsOf("backup.md")).toEqual(backup.map(({ line }) => line));
    await follow(backup, env);
  },
);

test("the guide from make up to make down holds", { timeout: 240_000 }, async () => {
  expect(commandsOf("getting-started.md")).toEqual([
    "make up",
    ...gettingStarted.map(({ line }) => line),
    "make down",
  ]);
  await follow(gettingStarted, env);
});

test("who follows the guide to uninstall keeps the workloads", { timeout: 240_000 }, async () => {
  expect(commandsOf("uninstall.md")).toEqual(uninstall.map(({ line }) => line));
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
  expect(before.said).toMatch(/^[-0-9a-f]{36},2$/);
  const accident = await typeLine("kubectl delete crd installplans.install.quartermaster.dev", env);
  expect(accident).toMatchObject({ code: 1 });
  expect(accident.said).toContain(
    "kubectl annotate crd installplans.install.quartermaster.dev quartermaster.dev/allow-deletion=true",
  );
  await follow(uninstall, env);
  expect(await typeLine(deployment, env)).toEqual(before);
  const kinds = await typeLine(
    "kubectl api-resources --api-group=install.quartermaster.dev --no-headers",
    env,
  );
  expect(kinds.said).not.toContain("InstallPlan");
});

test("make down leaves nothing", { timeout: 120_000 }, async () => {
  const folder = dirname(env["KUBECONFIG"] ?? "");
  const { said } = await typeLine(`make down ARGS="--name ${name}"`, {});
  expect(said).toContain("nothing of it is left");
  expect(existsSync(folder)).toBe(false);
  const left = await typeLine(`ps -eo args= | grep -F ${folder} | grep -v grep`, {});
  expect(left.said).toBe("");
});
