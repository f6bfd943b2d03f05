import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

import { stolenToken } from "../../src/generate/stolen-token.ts";

const repository = join(import.meta.dirname, "../../../..");
const texts = z.array(z.string());
const role = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()).optional() }),
  rules: z.array(z.object({ apiGroups: texts, resources: texts, verbs: texts })).optional(),
});

function read(path: string): string {
  return readFileSync(join(repository, path), "utf8");
}

function rolesIn(path: string): readonly z.infer<typeof role>[] {
  return parseAllDocuments(read(path)).map((document) => role.parse(document.toJS()));
}

function rulesOf(path: string): readonly string[] {
  return rolesIn(path).flatMap(({ rules = [] }) =>
    rules.map(({ resources, verbs }) => `${resources.join(", ")}: ${verbs.join(", ")}`),
  );
}

const limited = ["", "optional/"].flatMap((below) =>
  readdirSync(join(repository, "config/rbac-limited", below))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => `config/rbac-limited/${below}${name}`),
);

const writes = [
  "installplans, installplans/status, resourcemanifests, resourcemanifests/status: patch",
  "installplans: delete",
  "installplans: operate",
  "installplans/finalizers: update",
  "subjectaccessreviews: create",
];

const bundleWrites = [
  "bundles/status, clusterbundles/status: patch",
  "clusterbundles: operate",
  "bundles/finalizers, clusterbundles/finalizers, customresourcedefinitions/finalizers: update",
];

const driverAccess = "roles, rolebindings: get, list, watch, create, patch, delete";
const ofClusterBundles = "clusterroles: get, list, watch, create, patch";
const shareWrites = [
  "shares: get, list, watch, create, patch, delete, use",
  "sharedsecrets, sharedconfigmaps: get, list, watch, create, patch, delete, use",
];
const grantsAndSamples = ["clusterbundles: use", "consoleyamlsamples: get, list, watch, create, patch"];

const ownWrites = ["events: create, patch", "mutatingwebhookconfigurations: get, list, watch, update"];

const inOwnNamespace = ["leases: get, create, update", "configmaps: get, list, watch"];

test("the permissions per namespace are given to the account that the operator has", () => {
  const accounts = read("config/rbac/account.yaml");
  const [, name = "", namespace = ""] =
    /kind: ServiceAccount\nmetadata:\n {2}name: (\S+)\n {2}namespace: (\S+)/.exec(accounts) ?? [];
  expect(read("docs/guides/install.md")).toMatch(new RegExp(`--serviceaccount ${namespace}:${name}$`, "m"));
});

const licensingWrites = [
  "clusterlicenses, licenseassociations: create, patch, delete",
  "clusterlicenses/status, enterpriselicenses/status, licenseassociations/status, elasticsearchclusters/finalizers: patch, update",
  "licenseassociations: operate",
  "secrets: create, delete",
];

const searchWrites = [
  "opensearchclusters, elasticsearchclusters: get, list, watch, patch",
  "opensearchclusters/status, elasticsearchclusters/status: patch",
  "opensearchclusters: operate",
  "opensearchclusters/finalizers, elasticsearchclusters/finalizers: update",
  "statefulsets: get, list, watch, create, patch, delete",
  "deployments: get, list, watch, create, patch, delete",
  "services, configmaps: get, list, watch, create, patch, delete",
  "secrets: get, list, watch, create, patch, delete",
  "persistentvolumeclaims: get, list, watch, patch, delete",
  "pods: get, list, watch, patch, delete",
  "networkpolicies: get, list, watch, create, patch, delete",
  "poddisruptionbudgets: get, list, watch, create, patch, delete",
  "servicemonitors, prometheusrules, prometheuses, alertmanagers: get, list, watch, create, patch, delete",
  "grafanadashboards: get, list, watch, create, patch, delete",
];

test("the operator may write nothing but what it writes: our kinds, events, reviews, webhook configurations and its lease", () => {
  expect(rulesOf("config/rbac/operator.yaml")).toEqual([
    "*: get, list, watch",
    "serviceaccounts: impersonate",
    ...writes,
    ...licensingWrites,
    ...searchWrites,
    ...bundleWrites,
    driverAccess,
    "subjectaccessreviews: create",
    ...shareWrites,
    ofClusterBundles,
    ...grantsAndSamples,
    ...ownWrites,
    ...inOwnNamespace,
  ]);
  expect(rulesOf("config/rbac-limited/operator.yaml")).toEqual([
    "installplans, resourcemanifests: get, list, watch",
    ...writes,
    "bundles, clusterbundles: get, list, watch",
    ...bundleWrites,
    "configmaps: get, list, watch",
    "subjectaccessreviews: create",
    "customresourcedefinitions: list, watch",
    "csinodes: list, watch",
    ...shareWrites,
    ...grantsAndSamples,
    ...ownWrites,
    "clusterroles: get",
    "customresourcedefinitions: list, watch",
    "validatingadmissionpolicies, validatingadmissionpolicybindings: list, watch",
    ...inOwnNamespace,
  ]);
  expect(rulesOf("config/rbac-limited/optional/subscription.yaml")).toEqual([
    "secrets: get, list, watch",
    driverAccess,
    ofClusterBundles,
  ]);
  expect(rulesOf("config/rbac-limited/optional/licensing.yaml")).toEqual([
    "elasticsearchclusters, clusterlicenses, enterpriselicenses, licenseassociations: get, list, watch",
    ...licensingWrites,
    "namespaces: list, watch",
  ]);
  expect(rulesOf("config/rbac-limited/optional/search.yaml")).toEqual([
    ...searchWrites,
    "customresourcedefinitions: list, watch",
    "clusterlicenses, licenseassociations: get, list, watch",
    "nodes: get",
    "namespaces: get",
  ]);
});

test("the limited permissions take the place of the default ones, by name", () => {
  const names = (path: string): readonly string[] =>
    rolesIn(path).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(names("config/rbac-limited/operator.yaml")).toEqual(
    expect.arrayContaining([...names("config/rbac/operator.yaml")]),
  );
});

test.each(limited)("%s has no wildcards, gives a reason for each rule, and reads no subresources", (path) => {
  const lines = read(path).split("\n");
  const begins = lines.flatMap((line, index) => (line.startsWith("  - apiGroups:") ? [index] : []));
  for (const index of begins) expect(lines[index - 1]).toMatch(/^ {2}# /);
  const rules = rolesIn(path).flatMap((each) => each.rules ?? []);
  expect(rules).toHaveLength(begins.length);
  for (const { apiGroups, resources, verbs } of rules) {
    expect([...apiGroups, ...resources, ...verbs]).not.toContain("*");
    const readable = verbs.includes("get") ? resources : [];
    expect(readable.filter((name) => name.includes("/"))).toEqual([]);
  }
});

test.each([...limited, "config/rbac/operator.yaml", "config/rbac/webhook.yaml", "deploy/share-driver.yaml"])(
  "%s says above each rule what a stolen token gives",
  (path) => {
    const lines = read(path).split("\n");
    const begins = lines.flatMap((line, index) => (line.startsWith("  - apiGroups:") ? [index] : []));
    expect(begins.length).toBeGreaterThan(0);
    for (const index of begins) {
      const above = lines.slice(0, index);
      const comment = above.slice(above.findLastIndex((line) => !line.startsWith("  #")) + 1).join("\n");
      expect(comment, `${path}:${index + 1}`).toMatch(/# Stolen token: [a-z]/);
    }
  },
);

test("a rule without such a line is not generated", () => {
  const rule = { apiGroups: [""], resources: ["endpoints"], verbs: ["get"] };
  expect(() => stolenToken(rule)).toThrow("no line says what a stolen token gives by get on endpoints");
});
