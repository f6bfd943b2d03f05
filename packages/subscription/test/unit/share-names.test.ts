import { describe, expect, test } from "vitest";

import { type KnownShare, nameShares } from "../../src/cluster-bundle/share-names.ts";
import { entitlement } from "../support/seen.ts";

const plain = "cb-subscription-entitlement";
/** The name that a reference gets beside another one. */
const nameOf = (name: string): string => {
  const [first] = nameShares("cb", [entitlement("first"), entitlement(name)], []).slice(1);
  return first?.shareName ?? "";
};
const known = (shares: Readonly<Record<string, string>>): readonly KnownShare[] =>
  Object.entries(shares).map(([name, shareName]) => ({ name: shareName, object: entitlement(name).object }));

describe("names of Shares", () => {
  test.each([
    { name: "a single reference gets the plain name", refs: ["a"], before: {}, want: [plain] },
    { name: "the first of several gets it", refs: ["a", "b"], before: {}, want: [plain, "b"] },
    {
      name: "the one that has it keeps it when another is put before it",
      refs: ["b", "a"],
      before: { a: plain },
      want: ["b", plain],
    },
    {
      name: "one with a suffix keeps it when the holder of the plain name goes",
      refs: ["b"],
      before: { a: plain, b: "b" },
      want: ["b"],
    },
    {
      name: "a new one takes the plain name of one that no longer exists",
      refs: ["b", "c"],
      before: { a: plain, b: "b" },
      want: ["b", plain],
    },
    { name: "a replaced one hands the plain name on", refs: ["b"], before: { a: plain }, want: [plain] },
    {
      name: "a name in a forged status that is none of ours has no effect",
      refs: ["a"],
      before: { a: "somebody-elses" },
      want: [plain],
    },
  ])("$name", ({ refs, before, want }) => {
    const resolve = (name: string): string => (name.length === 1 ? nameOf(name) : name);
    const named = nameShares(
      "cb",
      refs.map((ref) => entitlement(ref)),
      known(Object.fromEntries(Object.entries(before).map(([ref, name]) => [ref, resolve(name)]))),
    );
    expect(named.map(({ shareName }) => shareName)).toEqual(want.map((name) => resolve(name)));
  });

  test("suffixes are 8 hex digits of the hash of namespace and name; repositories have names in lower case", () => {
    expect(nameOf("a")).toMatch(/^cb-subscription-entitlement-[0-9a-f]{8}$/);
    const object = { kind: "ConfigMap", namespace: "ns", name: "repo" } as const;
    const [repository] = nameShares("cb", [entitlement("repo", { purpose: "repository", object })], []);
    expect(repository?.shareName).toBe("cb-subscription-yumrepository");
  });
});
