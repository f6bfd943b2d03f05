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

const troubleshooting: readonly Step[] = [
  { line: "kubectl get installplans -A", says: /greeting +greeting-1 +Installed/ },
  { line: "npx qm plan explain greeting-1 -n greeting", says: /greeting-1/ },
  { line: "kubectl -n greeting events --for installplan/greeting-1" },
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

test("the guide from make up to make down holds, and nothing is left", { timeout: 240_000 }, async () => {
  expect(commandsOf("getting-started.md")).toEqual([
    "make up",
    ...gettingStarted.map(({ line }) => line),
    "make down",
  ]);
  await follow(gettingStarted, env);
  const folder = dirname(env["KUBECONFIG"] ?? "");
  const { said } = await typeLine(`make down ARGS="--name ${name}"`, {});
  expect(said).toContain("nothing of it is left");
  expect(existsSync(folder)).toBe(false);
  const left = await typeLine(`ps -eo args= | grep -F ${folder} | grep -v grep`, {});
  expect(left.said).toBe("");
});
