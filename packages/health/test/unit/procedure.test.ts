import type { KubeObject } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import {
  type Health,
  type HealthFacts,
  healthOf,
  opensGate,
  type ResourceState,
  worse,
  worstFirst,
} from "../../src/index.ts";

interface Row {
  readonly name: string;
  readonly metadata?: object;
  readonly status?: unknown;
  readonly facts?: Partial<HealthFacts>;
  readonly want: Partial<Health>;
}

function judge({ metadata = {}, status, facts = {} }: Row): Health {
  const object = {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "shop", generation: 2, ...metadata },
    spec: { size: 3, ["a/b"]: "x" },
    ...(status === undefined ? {} : { status }),
  };
  return healthOf(object, { readiness: { mode: "Default" }, stateAgeMs: 60_000, ...facts });
}

const ready = [{ type: "Ready", status: "True" }];
const notReady = [{ type: "Ready", status: "False", reason: "Warming", message: "caches are cold" }];

describe("the general procedure", () => {
  test.each<Row>([
    {
      name: "deletion comes first",
      metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a/b"] },
      status: { conditions: ready },
      want: { state: "Terminating", message: "The object is being deleted and waits for a/b." },
    },
    {
      name: "deletion is reported even of what is ignored",
      metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" },
      facts: { readiness: { mode: "Ignore" } },
      want: { state: "Terminating" },
    },
    {
      name: "an ignored object is ready",
      status: { conditions: notReady },
      facts: { readiness: { mode: "Ignore" } },
      want: { state: "Ready" },
    },
    {
      name: "an old generation is in progress",
      status: { observedGeneration: 1, conditions: ready },
      want: { state: "InProgress", reason: "LatestGenerationNotObserved" },
    },
    {
      name: "a generation written as text counts",
      status: { observedGeneration: "2", conditions: ready },
      want: { state: "Ready" },
    },
    {
      name: "an old generation written as text counts",
      status: { observedGeneration: "1", conditions: ready },
      want: { state: "InProgress" },
    },
    {
      name: "a generation that is no whole number is skipped",
      status: { observedGeneration: 1.5, conditions: ready },
      want: { state: "Ready" },
    },
    {
      name: "a generation that is no number is skipped",
      status: { observedGeneration: "abc", conditions: ready },
      want: { state: "Ready" },
    },
    {
      name: "Reconciling is in progress",
      status: { conditions: [{ type: "Reconciling", status: "True", reason: "Scaling" }, ...ready] },
      want: { state: "InProgress", reason: "Scaling", message: "Scaling" },
    },
    {
      name: "Stalled has failed",
      status: { conditions: [...ready, { type: "Stalled", status: "True", message: "no quota" }] },
      want: { state: "Failed", reason: "Stalled", message: "no quota" },
    },
    {
      name: "the first of the two decides",
      status: {
        conditions: [
          { type: "Stalled", status: "True" },
          { type: "Reconciling", status: "True" },
        ],
      },
      want: { state: "Failed" },
    },
    {
      name: "False ones say nothing",
      status: { conditions: [{ type: "Stalled", status: "False" }, ...ready] },
      want: { state: "Ready" },
    },
    { name: "Ready is ready", status: { conditions: ready }, want: { state: "Ready" } },
    {
      name: "not Ready is in progress",
      status: { conditions: notReady },
      want: { state: "InProgress", reason: "Warming", message: "caches are cold" },
    },
    {
      name: "Ready unknown is in progress",
      status: { conditions: [{ type: "Ready", status: "Unknown" }] },
      want: { state: "InProgress", reason: "NotReady" },
    },
    { name: "no news is good news", want: { state: "Ready" } },
    {
      name: "malformed conditions are ignored",
      status: { conditions: [null, 3, "x", { type: 4 }] },
      want: { state: "Ready" },
    },
    { name: "a status that is no object is ignored", status: "fine", want: { state: "Ready" } },
  ])("$name", (row) => {
    expect(judge(row)).toMatchObject(row.want);
  });

  test("a message is one short line", () => {
    const { message } = judge({
      name: "",
      want: {},
      status: { conditions: [{ type: "Stalled", status: "True", message: `a\n\n${"b".repeat(10_000)}` }] },
    });
    expect(message).toHaveLength(256);
    expect(message).toMatch(/^a b+…$/);
  });
});

describe("a custom resource no one has looked at", () => {
  const fresh: Partial<HealthFacts> = { hasStatusSubresource: true, stateAgeMs: 1_000 };
  test.each<Row>([
    {
      name: "is in progress at first",
      facts: fresh,
      want: { state: "InProgress", reason: "NotObserved", recheckAfterMs: 2_000 },
    },
    { name: "is ready after the grace", facts: { ...fresh, stateAgeMs: 3_000 }, want: { state: "Ready" } },
    {
      name: "is ready immediately when its kind has no status",
      facts: { stateAgeMs: 0 },
      want: { state: "Ready" },
    },
    {
      name: "is judged once its generation is observed",
      status: { observedGeneration: 2 },
      facts: fresh,
      want: { state: "Ready" },
    },
    {
      name: "is judged once a condition is there",
      status: { conditions: ready },
      facts: fresh,
      want: { state: "Ready" },
    },
  ])("$name", (row) => {
    expect(judge(row)).toMatchObject(row.want);
  });
});

type Checks = NonNullable<HealthFacts["readiness"]["checks"]>;
const checked = (...checks: Checks): Partial<HealthFacts> => ({ readiness: { mode: "Checks", checks } });
const synced = { condition: { type: "Synced", status: "True" } } as const;

describe("declared checks", () => {
  test.each<Row>([
    {
      name: "a condition holds",
      status: { conditions: [{ type: "Synced", status: "True" }, ...notReady] },
      facts: checked(synced),
      want: { state: "Ready" },
    },
    {
      name: "a condition is missing",
      facts: checked(synced),
      want: {
        state: "InProgress",
        reason: "CheckNotMet",
        message: "Condition Synced is not set, not True.",
      },
    },
    {
      name: "a condition is otherwise",
      status: { conditions: [{ type: "Synced", status: "False" }] },
      facts: checked(synced),
      want: { state: "InProgress" },
    },
    {
      name: "fields are equal",
      status: { size: 3 },
      facts: checked({ fieldsEqual: { a: "/spec/size", b: "/status/size" } }),
      want: { state: "Ready" },
    },
    {
      name: "fields differ",
      status: { size: "3" },
      facts: checked({ fieldsEqual: { a: "/spec/size", b: "/status/size" } }),
      want: { state: "InProgress", message: "Fields /spec/size and /status/size differ." },
    },
    {
      name: "two missing fields are not equal",
      facts: checked({ fieldsEqual: { a: "/status/x", b: "/status/x" } }),
      want: { state: "InProgress" },
    },
    {
      name: "a number equals its text",
      facts: checked({ fieldEquals: { path: "/spec/size", value: "3" } }),
      want: { state: "Ready" },
    },
    {
      name: "a boolean equals its text",
      status: { isOn: true },
      facts: checked({ fieldEquals: { path: "/status/isOn", value: "true" } }),
      want: { state: "Ready" },
    },
    {
      name: "a pointer escapes",
      facts: checked({ fieldEquals: { path: "/spec/a~1b", value: "x" } }),
      want: { state: "Ready" },
    },
    {
      name: "a pointer into a list",
      status: { l: ["a", "b"] },
      facts: checked({ fieldEquals: { path: "/status/l/1", value: "b" } }),
      want: { state: "Ready" },
    },
    {
      name: "a pointer past a list",
      status: { l: ["a"] },
      facts: checked({ fieldEquals: { path: "/status/l/length", value: "1" } }),
      want: { state: "InProgress" },
    },
    {
      name: "a pointer to a prototype",
      facts: checked({ fieldEquals: { path: "/constructor/name", value: "Object" } }),
      want: { state: "InProgress", message: "Field /constructor/name is not set." },
    },
    {
      name: "an object equals no text",
      facts: checked({ fieldEquals: { path: "/spec", value: "[object Object]" } }),
      want: { state: "InProgress" },
    },
    {
      name: "an expression holds",
      facts: checked({ cel: { expression: "self.spec.size > 2" } }),
      want: { state: "Ready" },
    },
    {
      name: "an expression misses a field",
      facts: checked({ cel: { expression: "self.status.size > 2" } }),
      want: {
        state: "InProgress",
        message: "A CEL expression of the plan is not true: field not found: status.",
      },
    },
    {
      name: "all must hold",
      facts: checked({ cel: { expression: "true" } }, synced),
      want: { state: "InProgress" },
    },
    {
      name: "an old generation comes first",
      status: { observedGeneration: 1 },
      facts: checked({ cel: { expression: "true" } }),
      want: { state: "InProgress", reason: "LatestGenerationNotObserved" },
    },
    {
      name: "a stalled object has failed",
      status: { conditions: [{ type: "Stalled", status: "True" }] },
      facts: checked({ cel: { expression: "true" } }),
      want: { state: "Failed" },
    },
  ])("$name", (row) => {
    expect(judge(row)).toMatchObject(row.want);
  });

  test("a failure that the kind's rule sees is reported while the checks do not hold", () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a" },
      status: { phase: "Failed" },
    } as KubeObject;
    const { state } = healthOf(pod, { stateAgeMs: 0, ...checked(synced) } as HealthFacts);
    expect(state).toBe("Failed");
  });
});

describe("the aggregate", () => {
  const order: readonly ResourceState[] = [
    "Failed",
    "Conflict",
    "Missing",
    "Terminating",
    "InProgress",
    "Drifted",
    "Suspended",
    "Ready",
  ];

  test("goes from Failed to Ready", () => {
    const items = order.toReversed().map((state) => ({ state }));
    expect(worstFirst(items).map(({ state }) => state)).toEqual(order);
  });

  test("the worse of two is the same either way round", () => {
    const pairs = order.flatMap((one, index) => order.slice(index).map((other) => [one, other] as const));
    expect(pairs.map(([one, other]) => [worse(one, other), worse(other, one)])).toEqual(
      pairs.map(([one]) => [one, one]),
    );
  });

  test("equal states keep their order", () => {
    const items = [
      { state: "Ready", id: 1 },
      { state: "Failed", id: 2 },
      { state: "Ready", id: 3 },
    ] as const;
    expect(worstFirst(items).map(({ id }) => id)).toEqual([2, 1, 3]);
  });

  test("only Ready and Suspended open the gate", () => {
    expect(order.filter((state) => opensGate(state))).toEqual(["Suspended", "Ready"]);
  });
});
