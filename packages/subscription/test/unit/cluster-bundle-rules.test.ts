import { share } from "@quartermaster/api";
import { firstDecision, type Verdict } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import type { ClusterBundleSeen, LiveShare } from "../../src/cluster-bundle/observe.ts";
import { type ClusterBundleAction, clusterBundleRules } from "../../src/cluster-bundle/rules.ts";
import { nameShares } from "../../src/cluster-bundle/share-names.ts";
import { sharedSecrets } from "../../src/cluster-bundle/share-profile.ts";
import { referencesOf } from "../../src/injection/injection-facts.ts";
import { aClusterBundle, entitlement, keysOf } from "../support/seen.ts";

const plain = "cb-subscription-entitlement";

interface Given {
  readonly entitlements?: readonly object[];
  readonly keys?: ClusterBundleSeen["keys"];
  readonly shares?: Partial<ClusterBundleSeen["shares"]>;
  readonly role?: Partial<ClusterBundleSeen["role"]>;
  readonly hasDriver?: boolean;
  readonly author?: ClusterBundleSeen["author"];
  readonly accesses?: Partial<ClusterBundleSeen["accesses"]>;
}

function seen({
  entitlements = [{ name: "a", namespace: "ns" }],
  keys,
  shares,
  role,
  author = { kind: "notRequired" },
  accesses,
  hasDriver = true,
}: Given): ClusterBundleSeen {
  const bundle = aClusterBundle({ entitlements });
  const wanted = nameShares("cb", referencesOf(bundle), shares?.owned ?? []);
  return {
    bundle,
    keys: keys ?? keysOf({ a: ["a.pem"] }),
    peers: [],
    isPolled: false,
    hasDriver,
    isSurplus: false,
    author,
    accesses: { Role: [], RoleBinding: [], ...accesses },
    shares: { profile: "seed", isStarting: false, wanted, owned: [], taken: new Set(), ...shares },
    role: { live: undefined, isTaken: false, isKnown: true, roles: [], targets: new Map(), ...role },
  };
}

function decide(given: Given): { readonly rule: string; readonly verdict: Verdict<ClusterBundleAction> } {
  const { rule, verdict } = firstDecision(
    clusterBundleRules({ allowedClusterRoles: ["admin", "edit", "view"], driver: "csi.example.com" }),
    seen(given),
    new Date(0),
  );
  return { rule: rule.name, verdict };
}

function lane({ lanes = [] }: Verdict<ClusterBundleAction>, wanted: string): readonly ClusterBundleAction[] {
  return lanes.find(({ name }) => name === wanted)?.actions ?? [];
}

function accessesOf(verdict: Verdict<ClusterBundleAction>): readonly string[] {
  return lane(verdict, "access").map((action) => {
    if (action.kind === "deleteAccess") return `delete ${action.of} ${action.object.name}`;
    if (action.kind !== "applyAccess") return action.kind;
    const [rule] = action.access.role.rules ?? [];
    return `${action.access.role.metadata.name} for ${rule?.resourceNames?.join() ?? ""}`;
  });
}

function summary(verdict: Verdict<ClusterBundleAction>): readonly string[] {
  return lane(verdict, "shares").map((action) => {
    if (action.kind === "deleteShare") return `delete ${action.share.kind.kind} ${action.share.name}`;
    if (action.kind === "applyShare") return `apply ${action.share.kind} ${action.desired.metadata.name}`;
    return action.kind;
  });
}

const owned = (name: string, object: string, kind: LiveShare["kind"] = share.kind): LiveShare => ({
  kind,
  name,
  uid: "u",
  resourceVersion: "1",
  isDeleting: false,
  object: entitlement(object).object,
});

const denied = { kind: "known", user: "eve", denied: new Set(["Secret/ns/a"]) } as const;

describe("what our other accounts may read for a ClusterBundle", () => {
  const ofDriver = `${plain}-share-driver for a`;
  const stray = { name: "stray", namespace: "ns", uid: "u", resourceVersion: "1" };
  test.each([
    { name: "the object that it refers to", given: {}, want: [ofDriver] },
    {
      name: "[security/121] not what a Share of its uid and name says",
      given: { shares: { owned: [owned(plain, "victim")] } },
      want: [ofDriver],
    },
    {
      name: "[security/121] nothing for a Share that it has not declared",
      given: { shares: { owned: [owned("by-hand", "victim")] } },
      want: [ofDriver],
    },
    {
      name: "[security/121] nothing for a Share that is being deleted",
      given: { shares: { owned: [{ ...owned(plain, "a"), isDeleting: true }] } },
      want: [],
    },
    { name: "nothing for a missing object", given: { keys: keysOf({}) }, want: [] },
    { name: "[security/119] nothing that its author may not get", given: { author: denied }, want: [] },
    {
      name: "[security/119] nothing while its author is unknown",
      given: { author: { kind: "unknown" } },
      want: [],
    },
    {
      name: "no longer what it no longer refers to",
      given: { accesses: { Role: [stray], RoleBinding: [stray] } },
      want: ["delete RoleBinding stray", "delete Role stray", ofDriver],
    },
  ] satisfies readonly { name: string; given: Given; want: readonly string[] }[])(
    "$name",
    ({ given, want }) => {
      expect(accessesOf(decide(given).verdict)).toEqual(want);
    },
  );
});

test("[first-use/9] without permission to watch ClusterRoles nothing is written, and the remedy is named", () => {
  const { rule, verdict } = decide({ role: { isKnown: false } });
  expect(rule).toBe("permissionsMissing");
  expect(verdict.lanes ?? []).toEqual([]);
  expect(verdict.outcome).toMatchObject({ kind: "stalled" });
  expect(JSON.stringify(verdict)).toContain("config/rbac-limited/optional/subscription.yaml");
});

describe("what is written for a ClusterBundle", () => {
  test.each([
    { name: "a new one", given: {}, want: [`apply Share ${plain}`, "applyRole"] },
    {
      name: "[subscription-injection/AC-F2] no Share of a missing object",
      given: { keys: keysOf({}) },
      want: ["applyRole"],
    },
    {
      name: "the Share of an object that is missing just now stays",
      given: { keys: keysOf({}), shares: { owned: [owned(plain, "a")] } },
      want: [`apply Share ${plain}`, "applyRole"],
    },
    {
      name: "a Share of an object that is no longer listed goes, even if its name waits for a missing one",
      given: { keys: keysOf({}), shares: { owned: [owned(plain, "removed")] } },
      want: [`delete Share ${plain}`, "applyRole"],
    },
    {
      name: "[subscription-injection/AC-F3] a Share whose object was replaced is updated",
      given: { shares: { owned: [owned(plain, "removed")] } },
      want: [`apply Share ${plain}`, "applyRole"],
    },
    {
      name: "a Share beyond those listed goes",
      given: { shares: { owned: [owned(plain, "a"), owned(`${plain}-12345678`, "b")] } },
      want: [`delete Share ${plain}-12345678`, `apply Share ${plain}`, "applyRole"],
    },
    {
      name: "Shares of another profile go",
      given: { shares: { owned: [owned(plain, "a", sharedSecrets)] } },
      want: [`delete SharedSecret ${plain}`, `apply Share ${plain}`, "applyRole"],
    },
    {
      name: "[subscription-injection/AC-F9] a Share of another client is not touched",
      given: { shares: { taken: new Set([plain]) } },
      want: ["applyRole"],
    },
    {
      name: "a ClusterRole of another client is not touched",
      given: { role: { isTaken: true } },
      want: [`apply Share ${plain}`],
    },
    {
      name: "without a Share API no Share is deleted",
      given: { shares: { profile: undefined, owned: [owned(plain, "removed")] } },
      want: ["applyRole"],
    },
    {
      name: "[security/119] the Share of an object that its author may no longer get goes",
      given: { author: denied, shares: { owned: [owned(plain, "a")] } },
      want: [`delete Share ${plain}`, "applyRole"],
    },
    { name: "nothing while the Share API starts", given: { shares: { isStarting: true } }, want: [] },
  ] satisfies readonly { name: string; given: Given; want: readonly string[] }[])(
    "$name",
    ({ given, want }) => {
      expect(summary(decide(given).verdict)).toEqual(want);
    },
  );

  test.each([
    { name: "no Shares", given: { keys: keysOf({}) } },
    { name: "Shares of another client", given: { shares: { taken: new Set([plain]) } } },
    { name: "no Share API", given: { shares: { profile: undefined } } },
    { name: "a Share", given: {} },
  ] satisfies readonly { name: string; given: Given }[])(
    "[security/43] every rule of the ClusterRole names its objects: $name",
    ({ given }) => {
      const actions = lane(decide(given).verdict, "shares");
      const roles = actions.flatMap((action) => (action.kind === "applyRole" ? [action.desired] : []));
      expect(roles).toHaveLength(1);
      for (const { rules = [] } of roles) {
        expect(rules.length).toBeGreaterThan(0);
        for (const rule of rules) {
          expect(rule?.resourceNames?.length).toBeGreaterThanOrEqual(1);
          expect(rule?.verbs).toEqual(["get", "list", "watch", "use"]);
        }
      }
    },
  );

  test.each([
    { name: "healthy", given: {}, want: { outcome: "settled", trueTypes: [] } },
    {
      name: "missing reference",
      given: { keys: keysOf({}) },
      want: { outcome: "stalled", trueTypes: ["Invalid"] },
    },
    {
      name: "missing optional reference",
      given: { entitlements: [{ name: "x", namespace: "ns", optional: true }] },
      want: { outcome: "settled", trueTypes: [] },
    },
    {
      name: "keys that overlap within the bundle",
      given: {
        entitlements: [
          { name: "a", namespace: "ns" },
          { name: "b", namespace: "ns" },
        ],
        keys: keysOf({ a: ["x"], b: ["x"] }),
      },
      want: { outcome: "stalled", trueTypes: ["KeyConflict"] },
    },
    {
      name: "no Share API",
      given: { shares: { profile: undefined } },
      want: { outcome: "stalled", trueTypes: ["DriverUnavailable"] },
    },
    {
      name: "a role that is not allowed does not hold the bundle up",
      given: { role: { roles: ["cluster-admin"] } },
      want: { outcome: "settled", trueTypes: ["AggregationIneffective"] },
    },
    {
      name: "[first-use/3] no node with the driver",
      given: { hasDriver: false },
      want: { outcome: "stalled", trueTypes: ["DriverUnavailable"] },
    },
    {
      name: "[security/119] an author who is not recorded although that is required",
      given: { author: { kind: "unknown" } },
      want: { outcome: "stalled", trueTypes: ["Invalid"] },
    },
    {
      name: "[security/119] an author who may not get the Secret",
      given: { author: denied },
      want: { outcome: "stalled", trueTypes: ["Invalid"] },
    },
    {
      name: "an author who may get everything",
      given: { author: { kind: "known", user: "eve", denied: new Set() } },
      want: { outcome: "settled", trueTypes: [] },
    },
    {
      name: "a taken name",
      given: { role: { isTaken: true } },
      want: { outcome: "stalled", trueTypes: ["ShareSyncFailed"] },
    },
  ] satisfies readonly { name: string; given: Given; want: object }[])(
    "conditions: $name",
    ({ given, want }) => {
      const { outcome, conditions = [] } = decide(given).verdict;
      expect(conditions).toHaveLength(5);
      const trueTypes = conditions.filter(({ status }) => status === "True").map(({ type }) => type);
      expect({ outcome: outcome.kind, trueTypes }).toEqual(want);
    },
  );

  test.each([
    { name: "a settled bundle", given: {}, outcome: { kind: "settled", recheckAfterMs: 300_000 } },
    {
      name: "a bundle with a problem",
      given: { author: denied },
      outcome: { kind: "stalled", retryAfterMs: 300_000 },
    },
  ] satisfies readonly { name: string; given: Given; outcome: object }[])(
    "$name is looked at every five minutes: permissions of its author have no watch",
    ({ given, outcome }) => {
      expect(decide(given).verdict.outcome).toMatchObject(outcome);
    },
  );
});
