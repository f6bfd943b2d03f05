import { describe, expect, test } from "vitest";

import { faultsOfStatus } from "../../src/index.ts";

interface Output {
  readonly ready?: string;
  readonly reconciling?: string;
  readonly stalled?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly observed?: number;
}

function anObject({
  ready = "True",
  reconciling = "False",
  stalled = "False",
  message = "all is well.",
  reason = "Settled",
  observed = 2,
}: Output): object {
  const condition = (type: string, status: string): object => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: "2026-11-15T12:00:00Z",
    observedGeneration: observed,
  });
  const conditions = [
    condition("Ready", ready),
    condition("Reconciling", reconciling),
    condition("Stalled", stalled),
  ];
  return { metadata: { generation: 2 }, status: { observedGeneration: observed, conditions } };
}

describe("the status oracle", () => {
  test.each<{ readonly name: string; readonly given: Output; readonly want: string | undefined }>([
    { name: "passes what is ready", given: {}, want: undefined },
    { name: "wants words", given: { message: " " }, want: "Ready: the message says nothing" },
    {
      name: "wants words that can be shown",
      given: { message: "a\u001b[2J" },
      want: "Ready: the message holds control characters",
    },
    { name: "passes what is on its way", given: { ready: "False", reconciling: "True" }, want: undefined },
    {
      name: "passes what only its user can mend",
      given: { ready: "False", stalled: "True" },
      want: undefined,
    },
    { name: "passes an older observation", given: { observed: 1 }, want: undefined },
    {
      name: "objects to ready while in progress",
      given: { reconciling: "True" },
      want: "Ready and Reconciling at once",
    },
    { name: "objects to ready while stalled", given: { stalled: "True" }, want: "Ready and Stalled at once" },
    {
      name: "objects to an observation from the future",
      given: { observed: 3 },
      want: "observedGeneration is ahead of the object",
    },
    {
      name: "objects to a reason of several words",
      given: { reason: "not ready" },
      want: 'Ready: the reason "not ready" is not one CamelCase word',
    },
    {
      name: "objects to a time stamp in a message",
      given: { message: "waiting since 2026-11-15T12:00:00Z" },
      want: "Ready: the message holds a time stamp and changes on every retry",
    },
    {
      name: "objects to a counter in a message",
      given: { message: "waiting, attempt 3" },
      want: "Ready: the message holds a counter and changes on every retry",
    },
  ])("$name", ({ given, want }) => {
    const faults = faultsOfStatus(anObject(given));
    expect(faults[0]).toBe(want);
  });

  test("misses conditions that are not there", () => {
    const bare = { metadata: { generation: 1 }, status: { conditions: [] } };
    expect(faultsOfStatus(bare)).toEqual([
      "there is no condition Ready",
      "there is no condition Reconciling",
      "there is no condition Stalled",
      "there is no observedGeneration",
    ]);
  });
});
