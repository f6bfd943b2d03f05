import type { InstallPlan } from "@quartermaster/api";
import { type Context, defineKind, type KubeObject, type ObjectRef } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { readLeftovers } from "../../../src/handover/leftovers.ts";
import { identityKey } from "../../../src/model/identity.ts";
import { labelledObject } from "../../support/labelled-object.ts";
import { aPlan } from "../../support/plans.ts";
import { aView } from "../../support/seen.ts";

const kind = defineKind({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
});
const startedAt = "2026-01-01T00:00:00Z";
const finishing = { startedAt, phase: "Finishing", stage: "(finishing)" };

function memberOf(name: string) {
  const identity = { apiVersion: "v1", kind: "ConfigMap", namespace: "ns", name };
  return { ...aView(name).member, identity, key: identityKey(identity) };
}

/** Predecessors `a`, `b`, …, each with a kept object, one that only it has, and one that another client took the labels off. */
function readingAfter(count: number, status: object) {
  const names = ["a", "b", "c", "d"].slice(0, count);
  const plans = names.map((name) => aPlan(name, { status: { startedAt, phase: "Installed" } }));
  const objects = new Map<string, KubeObject>();
  const contents = new Map<string, object>();
  for (const [at, name] of names.entries()) {
    const own = [`${name}-kept`, `${name}-dropped`, `${name}-disowned`].map(memberOf);
    contents.set(name, { members: own, provided: new Map(), issues: [], unresolved: [] });
    for (const { identity } of own) {
      const plan = plans[at] ?? aPlan(name);
      const live = labelledObject(plan, identity);
      const isDisowned = identity.name.endsWith("disowned");
      objects.set(identity.name, isDisowned ? { ...live, metadata: { ...live.metadata, labels: {} } } : live);
    }
  }
  const store = { isSynced: true, get: ({ name }: ObjectRef) => objects.get(name), list: () => [] };
  const ctx = {
    track: () => ({ isForbidden: false, firstResponse: Promise.resolve(), store }),
    signal: new AbortController().signal,
    client: { as: () => ({}) },
  } as unknown as Context;
  const plan = aPlan("p", { spec: { replaces: { plans: names.map((name) => ({ name })) } }, status });
  return async () =>
    await readLeftovers({
      plan,
      content: { members: names.map((name) => memberOf(`${name}-kept`)) },
      replacement: {
        predecessors: plans.map((before) => ({
          name: before.metadata.name,
          uid: before.metadata.uid,
          plan: before,
          state: "Releasing",
        })),
      },
      kinds: new Map([["v1/ConfigMap", kind]]),
      contents: {
        read: async ({ metadata }: InstallPlan) => await Promise.resolve(contents.get(metadata.name)),
      },
      discovery: {},
      ctx,
    } as never);
}

describe("leftovers of the plans that one replaces", () => {
  test.each([1, 2, 3, 4])(
    "of %i plans are what each of them labelled and the new one does not name",
    async (count) => {
      const left = await readingAfter(count, finishing)();
      const want = ["a", "b", "c", "d"].slice(0, count).map((name) => `${name}-dropped`);
      expect(left.map(({ live }) => live.metadata.name)).toEqual(want);
    },
  );

  test.each([
    { name: "before the first write, for its preview", status: undefined, isRead: true },
    {
      name: "not while stages are applied",
      status: { startedAt, phase: "Applying", stage: "s" },
      isRead: false,
    },
    {
      name: "not once it is installed",
      status: { startedAt, phase: "Installed", finishedAt: startedAt },
      isRead: false,
    },
  ])("are read $name", async ({ status, isRead }) => {
    const left = await readingAfter(1, status as object)();
    expect(left.length).toBe(isRead ? 1 : 0);
  });
});
