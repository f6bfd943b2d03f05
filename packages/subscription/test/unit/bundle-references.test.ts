import { firstDecision, type Live } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { bundleRules } from "../../src/bundle/bundle-controller.ts";
import { aggregate, wantedRoles } from "../../src/cluster-bundle/aggregation.ts";
import { judgeKeys } from "../../src/references/judge-keys.ts";
import { keyNames, type KnownKeys } from "../../src/references/read-keys.ts";
import { aBundle, entitlement, keysOf } from "../support/seen.ts";

const forbidden: KnownKeys = new Map([["Secret/ns/a", { kind: "forbidden" }]]);

describe("conditions of a Bundle", () => {
  test.each([
    { name: "all there", given: { name: "a" }, keys: keysOf({ a: ["k"] }), want: "False/ReferencesFound" },
    { name: "missing", given: { name: "a" }, keys: keysOf({}), want: "True/ReferenceNotFound" },
    {
      name: "missing but optional",
      given: { name: "a", optional: true },
      keys: keysOf({}),
      want: "False/ReferencesFound",
    },
    {
      name: "a key of items missing",
      given: { name: "a", items: [{ key: "x", path: "y" }] },
      keys: keysOf({ a: ["k"] }),
      want: "True/ReferenceNotFound",
    },
    { name: "forbidden", given: { name: "a" }, keys: forbidden, want: "True/ReferenceForbidden" },
    {
      name: "forbidden, although optional",
      given: { name: "a", optional: true },
      keys: forbidden,
      want: "True/ReferenceForbidden",
    },
    {
      name: "[subscription-injection/AC-F20] another namespace",
      given: { name: "a", namespace: "other" },
      keys: keysOf({ a: ["k"] }),
      want: "True/CrossNamespaceReference",
    },
  ])("$name", ({ given, keys, want }) => {
    const bundle = aBundle({ entitlements: [{ optional: false, ...given }] });
    const accesses = { Role: [], RoleBinding: [] };
    const limits = { isBeyond: false, isSurplus: false };
    const seen = { bundle, keys, peers: [], accesses, limits, isPolled: false };
    const { verdict } = firstDecision(bundleRules(), seen, new Date(0));
    const [invalid] = verdict.conditions ?? [];
    expect(`${invalid?.status}/${invalid?.reason}`).toBe(want);
    expect(verdict.outcome.kind).toBe(want.startsWith("True") ? "stalled" : "settled");
  });
});

describe("keys in conflict", () => {
  const own = { name: "own", references: [entitlement("a"), entitlement("b")] };
  const [a] = own.references;
  test.each([
    { name: "none", keys: { a: ["x"], b: ["y"] }, peers: [], want: undefined },
    {
      name: "within the bundle",
      keys: { a: ["x"], b: ["x"] },
      peers: [],
      want: 'in two objects of Bundle "own"',
    },
    {
      name: "with another bundle",
      keys: { a: ["x"], b: ["y"], c: ["y"] },
      peers: [{ name: "peer", references: [entitlement("c")] }],
      want: '"own" and "peer"',
    },
    {
      name: "one object in two bundles is none",
      keys: { a: ["x"], b: ["y"] },
      peers: [{ name: "peer", references: a === undefined ? [] : [a] }],
      want: undefined,
    },
    {
      name: "a prefix tells them apart",
      keys: { a: ["x"], b: ["y"], c: ["y"] },
      peers: [{ name: "peer", references: [entitlement("c", { prefix: "c-" })] }],
      want: undefined,
    },
    {
      name: "an entitlement and a repository are mounted apart",
      keys: { a: ["x"], b: ["y"], c: ["y"] },
      peers: [{ name: "peer", references: [entitlement("c", { purpose: "repository" })] }],
      want: undefined,
    },
  ])("$name", ({ keys, peers, want }) => {
    const all = peers.length === 0 ? [] : [own, ...peers];
    const { problem, condition } = judgeKeys({ kind: "Bundle", own, peers: all, keys: keysOf(keys) });
    expect(condition.status).toBe(want === undefined ? "False" : "True");
    expect(problem?.message ?? "").toContain(want ?? "");
  });
});

describe("what is kept of a Secret", () => {
  test("the names of its keys, strange ones too, and neither values nor annotations", () => {
    const data: unknown = JSON.parse('{"b.pem":"c2VjcmV0","__proto__":"c2VjcmV0"}');
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "c2VjcmV0" };
    const metadata = { name: "one", namespace: "ns", uid: "u", resourceVersion: "1", annotations };
    const secret: Live = Object.freeze({ apiVersion: "v1", kind: "Secret", metadata, data });
    const kept = keyNames.project(secret);
    expect(kept.keyNames).toEqual(["__proto__", "b.pem"]);
    expect(JSON.stringify(kept)).not.toContain("c2VjcmV0");
  });
});

describe("aggregation", () => {
  const role = (matchLabels: Readonly<Record<string, string>>): never =>
    ({ aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } }) as never;
  const label = (name: string): string => `rbac.authorization.k8s.io/aggregate-to-${name}`;
  const targets = new Map([
    ["edit", role({ [label("edit")]: "true" })],
    ["plain", role({ other: "true" })],
  ]);

  test.each([
    { roles: ["edit"], want: "Aggregated", labels: ["edit"] },
    { roles: [], want: "Aggregated", labels: [] },
    { roles: ["edit", "ghost"], want: "RoleNotFound", labels: ["edit", "ghost"] },
    { roles: ["plain"], want: "RoleDoesNotAggregate", labels: ["plain"] },
    { roles: ["edit", "system:masters"], want: "RoleNotAllowed", labels: ["edit"] },
  ])("[security/42] $roles: $want", ({ roles, want, labels }) => {
    const found = aggregate(roles, ["edit", "ghost", "plain"], targets);
    expect(found.condition.reason).toBe(want);
    expect(Object.keys(found.labels)).toEqual(labels.map((name) => label(name)));
  });

  test("[subscription-injection/AC-F22] only a missing list means the default", () => {
    const settings = { allowedClusterRoles: [], defaultClusterRoles: ["view"] };
    expect(wantedRoles(undefined, settings)).toEqual(["view"]);
    expect(wantedRoles([], settings)).toEqual([]);
  });
});
