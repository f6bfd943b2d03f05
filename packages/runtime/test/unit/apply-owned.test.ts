import { describe, expect, test } from "vitest";

import { applyOwned, type ApplyParts, isAsApplied } from "../../src/apply/apply-owned.ts";
import type { Client } from "../../src/client/client.ts";
import { type ConfigMap, configMaps } from "../../src/kinds/core.ts";
import { asLive } from "../../src/object/kube-object.ts";

const manager = "copies";
const owner = {
  apiVersion: "example.org/v1",
  kind: "Copy",
  metadata: { name: "one", namespace: "ns", uid: "u-1" },
};
const ownerReferences = [
  {
    apiVersion: "example.org/v1",
    kind: "Copy",
    name: "one",
    uid: "u-1",
    controller: true,
    blockOwnerDeletion: true,
  },
];

/** A ConfigMap as the store has it; `owned` are the keys of data that our applies own. */
function live(
  data: Readonly<Record<string, string>>,
  owned: readonly string[],
  metadata: object = {},
): ConfigMap {
  const fields = Object.fromEntries(owned.map((key) => [`f:${key}`, {}]));
  // An empty set would mean the whole map.
  const ownData = owned.length === 0 ? {} : { "f:data": fields };
  const managedFields = [
    {
      manager,
      operation: "Apply",
      fieldsV1: { ...ownData, "f:metadata": { "f:ownerReferences": { 'k:{"uid":"u-1"}': {} } } },
    },
  ];
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "one", namespace: "ns", ownerReferences, managedFields, ...metadata },
    data,
  };
}

const wanted = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "one", namespace: "ns", ownerReferences },
  data: { a: "1" },
};

describe("isAsApplied", () => {
  test.each([
    { name: "every field is ours and as wanted", given: live({ a: "1" }, ["a"]), want: true },
    { name: "others added a field of theirs", given: live({ a: "1", b: "2" }, ["a"]), want: true },
    { name: "somebody took a field over", given: live({ a: "1" }, []), want: false },
    { name: "a field is gone", given: live({}, []), want: false },
    { name: "the value is another", given: live({ a: "0" }, ["a"]), want: false },
    {
      name: "we still own a field that is no longer wanted",
      given: live({ a: "1", b: "2" }, ["a", "b"]),
      want: false,
    },
    {
      name: "we never applied it",
      given: { ...live({ a: "1" }, ["a"]), metadata: { name: "one" } },
      want: false,
    },
    {
      name: "the server rounded what this process applied",
      given: live({ a: "one" }, ["a"]),
      before: wanted,
      want: true,
    },
    {
      name: "this process applied something else before",
      given: live({ a: "1" }, ["a"]),
      before: { ...wanted, data: { a: "0" } },
      want: false,
    },
  ])("$want when $name", ({ given, before, want }) => {
    expect(isAsApplied(wanted, given, { fieldManager: manager, before })).toBe(want);
  });
});

describe("applyOwned", () => {
  /** What was sent, as `force` or `no force`; nothing when nothing was. */
  async function sent(found: ConfigMap | undefined): Promise<readonly string[]> {
    const calls: string[] = [];
    const client = {
      apply: async (_kind: unknown, object: ConfigMap, { force }: { force: boolean }) => {
        calls.push(force ? "force" : "no force");
        return await Promise.resolve(object);
      },
    } as unknown as Client;
    const parts: ApplyParts<ConfigMap> = {
      client,
      fieldManager: manager,
      owner: asLive(owner),
      isOwnerClusterWide: false,
      live: found && asLive(found),
      applied: new Map(),
    };
    await applyOwned(configMaps, { metadata: { name: "one" }, data: { a: "1" } }, parts);
    return calls;
  }

  test.each([
    { name: "makes an absent object without force", given: undefined, want: ["no force"] },
    { name: "restores its own object with force", given: live({ a: "0" }, []), want: ["force"] },
    { name: "leaves its own object as it is", given: live({ a: "1" }, ["a"]), want: [] },
  ])("$name", async ({ given, want }) => {
    expect(await sent(given)).toEqual(want);
  });

  test.each([
    { name: "nobody's object", metadata: { ownerReferences: [] } },
    {
      name: "an object of an owner that had the same name before",
      metadata: { ownerReferences: [{ ...ownerReferences[0], uid: "u-0" }] },
    },
    {
      name: "an object that merely names the owner",
      metadata: { ownerReferences: [{ ...ownerReferences[0], controller: false }] },
    },
  ])("never touches $name", async ({ metadata }) => {
    const attempt = sent(live({ a: "0" }, ["a"], metadata));
    await expect(attempt).rejects.toMatchObject({ class: "conflict", causes: [{ reason: "NameTaken" }] });
  });
});
