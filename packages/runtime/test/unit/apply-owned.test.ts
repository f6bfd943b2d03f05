import { describe, expect, test } from "vitest";

import { applyOwned, type ApplyOptions, isAsApplied } from "../../src/apply/apply-owned.ts";
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
    { name: "another client took a field over", given: live({ a: "1" }, []), want: false },
    { name: "a field no longer exists", given: live({}, []), want: false },
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
    const parts: ApplyOptions<ConfigMap> = {
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
    { name: "no one's object", metadata: { ownerReferences: [] } },
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

describe("applyOwned beside another client", () => {
  const managed = (fields: object, subresource?: string): object => ({
    manager: "another",
    operation: "Update",
    fieldsV1: fields,
    ...(subresource === undefined ? {} : { subresource }),
  });

  /** What is sent when the server has an object that the store did not show, or has shown. */
  async function sentTo(
    { isCreated, entries }: { readonly isCreated: boolean; readonly entries: readonly object[] },
    found?: ConfigMap,
  ): Promise<{ readonly bodies: readonly ConfigMap[]; readonly isRefused: boolean }> {
    const bodies: ConfigMap[] = [];
    const client = {
      apply: async (_kind: unknown, object: ConfigMap, { onCreated }: { onCreated?: () => void }) => {
        bodies.push(object);
        if (isCreated) onCreated?.();
        const written = { ...object, metadata: { ...object.metadata, managedFields: entries } };
        return await Promise.resolve(written);
      },
    } as unknown as Client;
    const parts: ApplyOptions<ConfigMap> = {
      client,
      fieldManager: manager,
      owner: asLive(owner),
      isOwnerClusterWide: false,
      live: found && asLive(found),
      applied: new Map(),
    };
    const call = applyOwned(configMaps, { metadata: { name: "one" }, data: { a: "1" } }, parts);
    const isRefused = await call.then(
      () => false,
      () => true,
    );
    return { bodies, isRefused };
  }

  test.each([
    { name: "created by this write", isCreated: true, entries: [managed({ "f:data": {} })], want: false },
    {
      name: "created by another client meanwhile",
      isCreated: false,
      entries: [managed({ "f:data": {} })],
      want: true,
    },
    {
      name: "of an earlier life, with an annotation of a user",
      isCreated: false,
      entries: [managed({ "f:metadata": { "f:annotations": {} } })],
      want: false,
    },
    {
      name: "of an earlier life, with a status",
      isCreated: false,
      entries: [managed({ "f:status": {} }, "status"), managed({ "f:spec": {} }, "scale")],
      want: false,
    },
  ])("withdraws its fields from an object $name: $want", async ({ isCreated, entries, want }) => {
    const { bodies, isRefused } = await sentTo({ isCreated, entries });
    expect(isRefused).toBe(want);
    const bare = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one", namespace: "ns" } };
    expect(bodies.slice(1)).toEqual(want ? [bare] : []);
  });

  test("asks before it writes again to an object that it has withdrawn from, and writes once that no longer exists", async () => {
    let isFree = false;
    const sent: string[] = [];
    const client = {
      apply: async (
        _kind: unknown,
        object: ConfigMap,
        { dryRun = false, onCreated }: { readonly dryRun?: boolean; readonly onCreated?: () => void },
      ) => {
        sent.push(`${dryRun ? "dry run" : "write"} of ${Object.keys(object.data ?? {}).length} keys`);
        if (isFree) onCreated?.();
        const managedFields = isFree ? [] : [managed({ "f:data": {} })];
        return await Promise.resolve({ ...object, metadata: { ...object.metadata, managedFields } });
      },
    } as unknown as Client;
    const parts: ApplyOptions<ConfigMap> = {
      client,
      fieldManager: manager,
      owner: asLive(owner),
      isOwnerClusterWide: false,
      live: undefined,
      applied: new Map(),
    };
    const apply = async (): Promise<unknown> =>
      await applyOwned(configMaps, { metadata: { name: "one" }, data: { a: "1" } }, parts);
    await expect(apply()).rejects.toMatchObject({ causes: [{ reason: "NameTaken" }] });
    expect(sent.splice(0)).toEqual(["write of 1 keys", "write of 0 keys"]);
    await expect(apply()).rejects.toMatchObject({ causes: [{ reason: "NameTaken" }] });
    expect(sent.splice(0)).toEqual(["dry run of 1 keys"]);
    isFree = true;
    await apply();
    await apply();
    expect(sent).toEqual(["dry run of 1 keys", "write of 1 keys", "write of 1 keys"]);
  });

  test("names the uid of its own object, so that another one under the name is not overwritten", async () => {
    const own = live({ a: "0" }, [], { uid: "seen" });
    const { bodies } = await sentTo({ isCreated: false, entries: [] }, own);
    expect(bodies.map(({ metadata }) => metadata.uid)).toEqual(["seen"]);
  });
});
