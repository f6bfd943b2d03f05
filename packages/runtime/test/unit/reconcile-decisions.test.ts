import { describe, expect, test } from "vitest";

import { ApiError, type ErrorClass, ExternalError } from "../../src/errors.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { printableDeep } from "../../src/object/printable.ts";
import { rawNumber } from "../../src/object/raw-number.ts";
import { conditionsFor } from "../../src/reconcile/condition.ts";
import { judgeFailure } from "../../src/reconcile/judge-failure.ts";
import { lifecycle } from "../../src/reconcile/lifecycle.ts";
import { held, settled, stalled, waiting } from "../../src/reconcile/outcome.ts";
import { firstDecision, type Rule } from "../../src/reconcile/recipe.ts";
import { isStatusCurrent, statusFor } from "../../src/reconcile/status-writer.ts";

const why = { reason: "Because", message: "Because of it." };
const now = "2026-01-01T00:00:00Z";

describe("lifecycle", () => {
  const deletionTimestamp = now;
  test.each([
    { name: "new", metadata: {}, finalizer: "f", want: "needsFinalizer" },
    { name: "marked", metadata: { finalizers: ["f"] }, finalizer: "f", want: "active" },
    { name: "marked by another", metadata: { finalizers: ["g"] }, finalizer: "f", want: "needsFinalizer" },
    {
      name: "deleted, marked",
      metadata: { finalizers: ["f"], deletionTimestamp },
      finalizer: "f",
      want: "deleting",
    },
    {
      name: "deleted, held by another",
      metadata: { finalizers: ["g"], deletionTimestamp },
      finalizer: "f",
      want: "finalized",
    },
    { name: "without finalizer", metadata: {}, finalizer: undefined, want: "active" },
    {
      name: "without finalizer, deleted",
      metadata: { deletionTimestamp },
      finalizer: undefined,
      want: "finalized",
    },
  ])("an object that is $name is $want", ({ metadata, finalizer, want }) => {
    const object = { apiVersion: "v1", kind: "Thing", metadata: { name: "a", ...metadata } };
    expect(lifecycle(object, finalizer)).toBe(want);
  });
});

describe("conditionsFor", () => {
  test.each([
    {
      outcome: settled(),
      want: ["Ready=True Settled", "Reconciling=False Settled", "Stalled=False Settled"],
    },
    {
      outcome: waiting(why, 5),
      want: ["Ready=False Because", "Reconciling=True Because", "Stalled=False Progressing"],
    },
    {
      outcome: held(why),
      want: ["Ready=False Because", "Reconciling=False Because", "Stalled=False Progressing"],
    },
    {
      outcome: stalled(why),
      want: ["Ready=False Because", "Reconciling=False Stalled", "Stalled=True Because"],
    },
  ])("says $outcome.kind as $want", ({ outcome, want }) => {
    const conditions = conditionsFor({ outcome, generation: 3, previous: [], now });
    expect(conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual(want);
    expect(conditions.every(({ observedGeneration }) => observedGeneration === 3)).toBe(true);
  });

  test("a reason may change without the time of the condition", () => {
    const before = conditionsFor({ outcome: waiting(why, 5), generation: 1, previous: [], now });
    const later = "2026-01-02T00:00:00Z";
    const after = conditionsFor({ outcome: stalled(why), generation: 2, previous: before, now: later });
    expect(after.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([now, later, later]);
  });
});

describe("judgeFailure", () => {
  const quiet: readonly ErrorClass[] = [
    "conflict",
    "alreadyExists",
    "gone",
    "tooManyRequests",
    "transient",
    "timeout",
    "unauthorized",
    "aborted",
  ];
  test.each(quiet)("%s is retried and never reaches a condition", (errorClass) => {
    const error = new ApiError("x", { class: errorClass, mayHaveActed: false, retryAfterMs: 7 });
    expect(judgeFailure(error)).toEqual({ next: "backOff", atLeastMs: 7, isBug: false });
  });

  test.each([
    { error: "invalid", next: "stay", outcome: "stalled", reason: "Rejected" },
    { error: "tooLarge", next: "stay", outcome: "stalled", reason: "TooLarge" },
    { error: "forbidden", next: "backOff", outcome: "waiting", reason: "Forbidden" },
    { error: "notFound", next: "backOff", outcome: "waiting", reason: "NotFound" },
  ] as const)("$error is shown as $reason", ({ error, next, outcome, reason }) => {
    const judgement = judgeFailure(new ApiError("get Thing a: 4xx", { class: error, mayHaveActed: false }));
    expect(judgement).toMatchObject({ next, isBug: false, shown: { kind: outcome, why: { reason } } });
  });

  test.each([
    { name: "says when to look again", retryAfterMs: 30_000 },
    { name: "is over with an edit only", retryAfterMs: undefined },
  ])("what another system refuses for good, and that $name, stalls so", ({ retryAfterMs }) => {
    const error = new ExternalError("taken", { class: "invalid", reason: "NameClash", retryAfterMs });
    const judgement = judgeFailure(error);
    expect(judgement.next).toBe("stay");
    expect(judgement.shown).toEqual(stalled({ reason: "NameClash", message: "taken" }, retryAfterMs));
  });

  test("a field that another writer holds is shown: repeating does not help", () => {
    const causes = [{ field: ".data.a", reason: "FieldManagerConflict", message: "" }];
    const error = new ApiError("apply: 409", { class: "conflict", causes, mayHaveActed: false });
    expect(judgeFailure(error).shown).toMatchObject({ why: { reason: "FieldConflict" } });
  });

  test("a fault of ours is shown without its text, which may hold anything", () => {
    const judgement = judgeFailure(new TypeError("password is hunter2"));
    expect(judgement).toMatchObject({ next: "backOff", isBug: true });
    expect(JSON.stringify(judgement)).not.toContain("hunter2");
  });
});

describe("an object that the server refused", () => {
  const refusal = (text: string, messages: readonly string[]): string => {
    const causes = messages.map((message) => ({ field: "spec.a", reason: "FieldValueInvalid", message }));
    const facts = { class: "invalid", status: 422, causes, mayHaveActed: false } as const;
    const { shown } = judgeFailure(new ApiError(`apply Role ns/system:a: 422 ${text}`, facts));
    return shown !== undefined && "why" in shown ? shown.why.message : "";
  };

  test.each([
    { cause: 'Invalid value: "s3cret": must be short', want: "spec.a: Invalid value: must be short." },
    {
      cause: 'Invalid value: "a\\": \\"s3cret": must be short',
      want: "spec.a: Invalid value: must be short.",
    },
    {
      cause: "Invalid value: -1: must not be negative",
      want: "spec.a: Invalid value: must not be negative.",
    },
    { cause: 'Duplicate value: "s3cret"', want: "spec.a: Duplicate value." },
    { cause: 'Invalid value: {"a":"s3cret"}: no', want: "spec.a: Invalid value." },
    { cause: "Required value: say which", want: "spec.a: Required value: say which." },
    { cause: "", want: "spec.a: FieldValueInvalid." },
  ])("is reported by field and demand, without the value: $cause", ({ cause, want }) => {
    expect(refusal(`it is invalid: spec.a: ${cause}`, [cause])).toBe(`apply Role ns/system:a: 422 ${want}`);
  });

  test("shows nothing between quotes where the server names no field", () => {
    expect(refusal('json: cannot read "s3cret" of "x"', [])).toBe(
      'apply Role ns/system:a: 422 json: cannot read "…".',
    );
  });
});

describe("[security/85] words of others in a status", () => {
  const steering = "a\u001b[2J\nb\u202ec";
  const clean = "a [2J b c";

  test("cannot steer the terminal of a client that reads them", () => {
    const object = { apiVersion: "v1", kind: "Thing", metadata: { name: "a", generation: 1 } };
    const outcome = stalled({ reason: "Because", message: steering });
    const updates = [{ type: "Own", status: "False", reason: "Because", message: steering }] as const;
    const exact = rawNumber("9007199254740993");
    const content = {
      message: steering,
      details: [{ message: steering, exact }],
      ["__proto__"]: { a: steering },
    };
    const status = statusFor({ object, outcome, updates, content, now: new Date(0) });
    expect(JSON.stringify(status)).not.toMatch(/\\u001b|\\n|\u202e/);
    expect(status).toMatchObject({ message: clean, details: [{ message: clean, exact }] });
  });

  test("stay the same object when they are harmless", () => {
    const content = { list: [{ message: "a b" }], none: null };
    expect(printableDeep(content)).toBe(content);
  });
});

describe("statusFor", () => {
  const object: KubeObject & { readonly status: object } = {
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: "a", generation: 4 },
    status: { nodes: 3, observedGeneration: 3, conditions: [] },
  };
  const withStatus = (status: object): KubeObject => Object.assign({}, object, { status });
  const facts = { object, outcome: settled(), now: new Date(now) };

  test("keeps what is there when the domain says nothing, and replaces it when it does", () => {
    expect(statusFor({ ...facts, content: undefined })).toMatchObject({ nodes: 3, observedGeneration: 4 });
    expect(statusFor({ ...facts, content: { ready: 1 } })).not.toHaveProperty("nodes");
    expect(statusFor({ ...facts, content: { observedGeneration: 99, ready: 1 } })).toMatchObject({
      observedGeneration: 4,
    });
  });

  test("counts as current only when everything of ours is said already; conditions of others do not matter", () => {
    const wanted = statusFor({ ...facts, content: { nodes: 3 } });
    expect(isStatusCurrent(object, wanted)).toBe(false);
    const { conditions } = wanted as { readonly conditions: readonly object[] };
    const foreign = { type: "Foreign", status: "True" };
    expect(isStatusCurrent(withStatus({ ...wanted, conditions: [foreign, ...conditions] }), wanted)).toBe(
      true,
    );
    expect(isStatusCurrent(withStatus({ ...wanted, more: 1 }), wanted)).toBe(false);
  });

  test("keeps conditions of the domain that are not stated again, and drops those of no one", () => {
    const condition = { status: "True", reason: "Ok", message: "", lastTransitionTime: now };
    const before = ["Own", "Stated", "Foreign"].map((type) => ({ type, ...condition }));
    const stated = { type: "Stated", status: "False", reason: "No", message: "" } as const;
    const { conditions } = statusFor({
      ...facts,
      object: withStatus({ conditions: before }),
      content: undefined,
      ownTypes: ["Own", "Stated"],
      updates: [stated],
    }) as { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
    expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      "Ready=True",
      "Reconciling=False",
      "Stalled=False",
      "Stated=False",
      "Own=True",
    ]);
  });

  test("says the same on the next reconcile, so that nothing is written", () => {
    const first = statusFor({ ...facts, content: { nodes: 3 } });
    const written = { ...object, status: first };
    const later = new Date("2027-01-01T00:00:00Z");
    expect(
      isStatusCurrent(
        written,
        statusFor({ object: written, outcome: settled(), content: { nodes: 3 }, now: later }),
      ),
    ).toBe(true);
  });
});

describe("firstAnswer", () => {
  const rule = (name: string, responses: boolean): Rule<number, never> => ({
    name,
    decide: () => (responses ? { actions: [], outcome: settled() } : undefined),
  });

  test("the first rule that does not pass decides", () => {
    expect(
      firstDecision([rule("a", false), rule("b", true), rule("c", true)], 1, new Date(now)).rule.name,
    ).toBe("b");
  });

  test("a recipe whose rules all pass is a fault", () => {
    expect(() => firstDecision([rule("a", false)], 1, new Date(now))).toThrow(/no rule decided/);
  });
});
