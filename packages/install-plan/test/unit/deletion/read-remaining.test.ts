import { type InstallPlan, installPlan } from "@quartermaster/api";
import { classify, type Context, type ErrorClass, type Kind, type KubeObject } from "@quartermaster/runtime";
import { apiError } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { readRemaining } from "../../../src/deletion/read-remaining.ts";
import { identityKey } from "../../../src/model/identity.ts";
import { PlanMemory } from "../../../src/plan-memory.ts";
import { labelledObject } from "../../support/labelled-object.ts";
import { aPlan } from "../../support/plans.ts";
import { aView } from "../../support/seen.ts";

const at = "2026-01-01T00:00:00Z";
const plan = aPlan("p", { status: { startedAt: at, phase: "Installed", finishedAt: at, stage: "s" } });

/** What the server says of a kind: its watch, or that it is not served and why. */
type Output =
  | { readonly watch: "synced" | "silent" | "forbidden"; readonly isThere?: boolean }
  | { readonly discovery: ErrorClass | "served" };

/** A member of a kind of its own, so that each kind can be in another state. */
function memberOf(name: string) {
  const identity = { apiVersion: "example.org/v1", kind: name, namespace: "ns", name: "c" };
  return { ...aView("c").member, identity, key: identityKey(identity) };
}

function liveOf(name: string): KubeObject {
  return labelledObject(plan, memberOf(name).identity);
}

function reading(output: Readonly<Record<string, Output>>, siblings: readonly InstallPlan[] = [plan]) {
  const memory = new PlanMemory();
  const track = ({ kind: { kind } }: { readonly kind: Kind }) => {
    const found = output[kind];
    const { watch, isThere = true } =
      found !== undefined && "watch" in found ? found : { watch: "synced" as const };
    return {
      isForbidden: watch === "forbidden",
      firstResponse: Promise.resolve(),
      store: {
        isSynced: watch === "synced",
        get: () => (watch === "synced" && isThere ? liveOf(kind) : undefined),
        list: () => [],
      },
    };
  };
  const ctx = {
    track,
    signal: new AbortController().signal,
    client: {
      as: () => ({}),
      raw: async () => await Promise.resolve({ status: { allowed: true } }),
    },
    store: (kind: Kind) => ({
      listBy: () => (kind.kind === installPlan.kind.kind ? siblings : []),
      get: () => undefined,
      list: () => [],
    }),
  } as unknown as Context;
  const served = Object.entries(output).flatMap(([kind, each]) =>
    "watch" in each
      ? [
          {
            group: "example.org",
            version: "v1",
            kind,
            plural: `${kind.toLowerCase()}s`,
            scope: "Namespaced",
            subresources: [],
          },
        ]
      : [],
  );
  const discovery = {
    all: async () => await Promise.resolve(served),
    invalidate: () => undefined,
    find: async ({ kind }: { readonly kind: string }) => {
      await Promise.resolve();
      const found = output[kind];
      if (found !== undefined && "discovery" in found && found.discovery !== "served")
        throw apiError(found.discovery);
      return {};
    },
  };
  const content = {
    members: Object.keys(output).map(memberOf),
    provided: new Map(),
    issues: [],
    unresolved: [],
  };
  const contents = { read: async () => await Promise.resolve(content) };
  return async (nowMs: number) => {
    const parts = { memory, nowMs, leftBehind: new Set<string>(), discovery, contents } as never;
    const { remaining, unconfirmed, isPending } = await readRemaining(siblings[0] ?? plan, ctx, parts);
    return {
      remaining: remaining.map(({ identity }) => identity.kind),
      unconfirmed: unconfirmed.map(({ identity }) => identity.kind),
      isPending,
    };
  };
}

const there = { watch: "synced" } as const;
const nothing = { remaining: [], unconfirmed: [], isPending: false };

describe("what is left of a plan that is being deleted", () => {
  test.each([
    { name: "is there when its watch shows it", given: there, want: { ...nothing, remaining: ["One"] } },
    {
      name: "is deleted when its watch does not show it",
      given: { ...there, isThere: false },
      want: nothing,
    },
    {
      name: "no longer exists with its kind when no API is registered for it",
      given: { discovery: "notFound" },
      want: nothing,
    },
    {
      name: "is unknown while the API behind its kind does not answer",
      given: { discovery: "transient" },
      want: { ...nothing, unconfirmed: ["One"] },
    },
    {
      name: "is unknown when its kind turns out to be served by now",
      given: { discovery: "served" },
      want: { ...nothing, unconfirmed: ["One"] },
    },
  ] as const)("$name", async ({ given, want }) => {
    expect(await reading({ One: given })(0)).toEqual(want);
    expect(await reading({ Two: there, One: given })(0)).toEqual({
      ...want,
      remaining: ["Two", ...want.remaining],
    });
  });

  test("is waited for when its watch has no first picture, and unknown after five seconds: never gone", async () => {
    const read = reading({ One: { watch: "silent" }, Two: there });
    const pending = { ...nothing, isPending: true };
    expect(await read(1_000)).toEqual(pending);
    expect(await read(5_999)).toEqual(pending);
    expect(await read(6_000)).toEqual({ ...nothing, remaining: ["Two"], unconfirmed: ["One"] });
    expect(await read(600_000)).toEqual({ ...nothing, remaining: ["Two"], unconfirmed: ["One"] });
  });

  test.each(["forbidden"] as const)("is not gone because it may not be seen (%s)", async (watch) => {
    const failed: unknown = await reading({ One: { watch } })(0).catch((error: unknown) => error);
    expect(classify(failed)).toBe("forbidden");
  });
});

describe("in the middle of a handover", () => {
  const successorOf = (metadata: object = {}): InstallPlan =>
    aPlan("q", {
      spec: { replaces: { plans: [{ name: "p" }] } },
      status: {
        startedAt: at,
        phase: "Applying",
        replaces: [{ name: "p", uid: "uid-p", state: "Releasing" }],
      },
      metadata,
    });
  const replaced = aPlan("p", {
    status: { ...plan.status, replacedBy: { name: "q", uid: "uid-q", state: "InProgress" } },
  });
  test.each([
    { name: "what the successor names stays", sibling: successorOf(), want: [] },
    {
      name: "what a successor names that goes itself does not",
      sibling: successorOf({ deletionTimestamp: at }),
      want: ["One"],
    },
  ])("$name", async ({ sibling, want }) => {
    const read = reading({ One: there }, [replaced, sibling]);
    expect((await read(0)).remaining).toEqual(want);
  });
});
