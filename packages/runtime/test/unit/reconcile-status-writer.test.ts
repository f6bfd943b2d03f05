import { describe, expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { ApiError } from "../../src/errors.ts";
import { defineKind } from "../../src/object/kind.ts";
import type { Live } from "../../src/object/kube-object.ts";
import { settled } from "../../src/reconcile/outcome.ts";
import { StatusWriter } from "../../src/reconcile/status-writer.ts";
import type { Thing } from "../support/kinds.ts";

const things = defineKind<Thing>({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  scope: "Namespaced",
});
const now = new Date("2026-01-01T00:00:00Z");
const settings = { outcome: settled(), content: { nodes: 3 }, now };
const object: Live<Thing> = {
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "a", namespace: "ns", uid: "u", generation: 4, resourceVersion: "1" },
};
const conflict = new ApiError("409", { class: "conflict", mayHaveActed: false });

/** Refuses so many writes with a conflict, and has this object when it is read. */
function serverWith(
  fresh: Thing | undefined,
  conflicts: number,
): { readonly client: Client; readonly sent: Thing[] } {
  const sent: Thing[] = [];
  const client = {
    apply: async (_kind: unknown, body: Thing) => {
      sent.push(body);
      if (sent.length <= conflicts) throw conflict;
      return await Promise.resolve(body);
    },
    find: async () => await Promise.resolve(fresh),
  };
  return { client: client as unknown as Client, sent };
}

function writer(): StatusWriter<Thing> {
  return new StatusWriter<Thing>(things, "tests");
}

describe("the status of a reconcile", () => {
  test("is written once, and not again while it says the same", async () => {
    const { client, sent } = serverWith(object, 0);
    const statuses = writer();
    expect(await statuses.write(client, object, settings)).toBe(true);
    const { status } = sent[0] ?? {};
    const written = { ...object, ...(status === undefined ? {} : { status }) };
    expect(await statuses.write(client, written, settings)).toBe(false);
    expect(sent).toHaveLength(1);
  });

  test("speaks of the generation that was worked on, also after a conflict with a new one", async () => {
    const fresh = { ...object, metadata: { ...object.metadata, generation: 5, resourceVersion: "2" } };
    const { client, sent } = serverWith(fresh, 1);
    expect(await writer().write(client, object, settings)).toBe(true);
    expect(sent.map(({ status }) => status?.["observedGeneration"])).toEqual([4, 4]);
  });

  test.each([
    { name: "is gone", fresh: undefined },
    { name: "is another one by now", fresh: { ...object, metadata: { ...object.metadata, uid: "other" } } },
  ])("is not written when the object $name", async ({ fresh }) => {
    const { client, sent } = serverWith(fresh, 1);
    expect(await writer().write(client, object, settings)).toBe(false);
    expect(sent).toHaveLength(1);
  });

  test("names the version that was seen, except in the fifth attempt, and then gives up", async () => {
    const { client, sent } = serverWith(object, 9);
    await expect(writer().write(client, object, settings)).rejects.toBe(conflict);
    const versions = sent.map(({ metadata }) => metadata.resourceVersion);
    expect(versions).toEqual(["1", "1", "1", "1", undefined]);
  });
});
