import { expect, test } from "vitest";

import { diagnosis, type InstallationFacts } from "../../src/commands/diagnosis.ts";

const operator = {
  kind: "Deployment" as const,
  namespace: "quartermaster",
  name: "quartermaster-operator",
  image: "registry.example/operator:1.2.0",
  ready: 2,
  wanted: 2,
  domains: "install-plan",
};

const facts: InstallationFacts = {
  release: "1.2.0",
  definitions: new Map([["installplans.install.quartermaster.dev", "1.2.0"]]),
  holders: ["quartermaster"],
  policies: { all: 22, unbound: [] },
  programs: [operator],
  hasShareDriver: false,
};

test.each<{
  readonly name: string;
  readonly given: Partial<InstallationFacts>;
  readonly want: readonly RegExp[];
}>([
  { name: "nothing is wrong", given: {}, want: [] },
  { name: "no definitions", given: { definitions: new Map() }, want: [/no definitions are installed/] },
  {
    name: "a definition that is older than qm",
    given: { definitions: new Map([["bundles.subscription.openshift.io", "1.1.9"]]) },
    want: [/older than qm 1\.2\.0: bundles\.subscription\.openshift\.io; upgrade the chart/],
  },
  {
    name: "a definition without a release",
    given: { definitions: new Map([["bundles.subscription.openshift.io", undefined]]) },
    want: [/older than qm 1\.2\.0: bundles/],
  },
  {
    name: "a definition of another operator of OpenSearch",
    given: { definitions: new Map([["opensearchclusters.opensearch.opster.io", undefined]]) },
    want: [],
  },
  { name: "no policies", given: { policies: { all: 0, unbound: [] } }, want: [/no admission policies/] },
  {
    name: "policies without effect",
    given: { policies: { all: 22, unbound: ["b", "a"] } },
    want: [/without a binding have no effect: a, b;/],
  },
  { name: "no operator", given: { programs: [] }, want: [/no operator is installed/] },
  {
    name: "a replica that is not ready",
    given: { programs: [{ ...operator, ready: 1 }] },
    want: [/1 of 2 ready.*kubectl -n quartermaster logs deployment\/quartermaster-operator/],
  },
  {
    name: "no replicas",
    given: { programs: [{ ...operator, ready: 0, wanted: 0 }] },
    want: [/it runs nothing/],
  },
  {
    name: "ClusterBundles without a driver",
    given: { programs: [{ ...operator, domains: "install-plan,subscription" }] },
    want: [/no CSI driver for Shares/],
  },
  {
    name: "ClusterBundles with a driver",
    given: { programs: [{ ...operator, domains: "subscription" }], hasShareDriver: true },
    want: [],
  },
])("$name", ({ given, want }) => {
  const problems = diagnosis({ ...facts, ...given }).filter(({ isProblem }) => isProblem);
  expect(problems.map(({ text }) => text)).toEqual(want.map((text) => expect.stringMatching(text) as string));
});
