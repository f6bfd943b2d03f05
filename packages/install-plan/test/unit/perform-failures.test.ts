import { classify, type ErrorClass, type KubeObject } from "@quartermaster/runtime";
import { configMaps } from "@quartermaster/runtime/kinds";
import { apiError } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { jobObject } from "../../src/jobs/job-object.ts";
import type { JobView } from "../../src/jobs/job-view.ts";
import { identityKey, identityOf } from "../../src/model/identity.ts";
import { jobFieldManager } from "../../src/ownership/owner-labels.ts";
import type { PlanAction } from "../../src/plan-action.ts";
import { aPerformBench, benchMs, type PerformBench } from "../support/perform-bench.ts";
import { aPlan } from "../support/plans.ts";
import { aView } from "../support/seen.ts";

const plan = aPlan("p");
const object: KubeObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "one", namespace: "ns" },
};
const job = { stage: "s", jobName: "j", spec: { name: "migrate", timeoutSeconds: 60, template: {} } };
const createJob = {
  kind: "createJob",
  job: job as unknown as JobView,
} as const;
const jobKey = identityKey({ apiVersion: "batch/v1", kind: "Job", namespace: "ns", name: "j" });

const actions: Readonly<Record<string, (live: KubeObject) => PlanAction>> = {
  delete: (live) => ({
    kind: "delete",
    target: { kind: configMaps, live },
    propagation: "Background",
  }),
  release: (live) => ({ kind: "release", target: { kind: configMaps, live } }),
  deleteJob: (live) => ({
    kind: "deleteJob",
    job: { jobName: "j", live },
  }),
  createJob: () => createJob,
  apply: (live) => ({
    kind: "apply",
    view: { ...aView("one"), kind: configMaps, live },
    isRepair: true,
  }),
};

function keyOf(name: string): ReturnType<typeof identityKey> {
  return name === "createJob" || name === "deleteJob" ? jobKey : identityKey(identityOf(object));
}

function prepared(name: string): { readonly bench: PerformBench; readonly action: PlanAction } {
  const ours: KubeObject = name === "deleteJob" ? { ...object, apiVersion: "batch/v1", kind: "Job" } : object;
  const bench = aPerformBench([ours]);
  const live = bench.api.find(ours.kind, ours.metadata) ?? ours;
  const action = actions[name]?.(live);
  if (action === undefined) throw new Error(name);
  return { bench, action };
}

/** What becomes of an error: it is kept for the status, thrown so that the reconcile is repeated, or the matter is settled. */
const ends: Readonly<Record<string, Readonly<Partial<Record<ErrorClass, "kept" | "thrown" | "settled">>>>> = {
  delete: { conflict: "settled", notFound: "settled" },
  release: { conflict: "settled", notFound: "settled" },
  deleteJob: { conflict: "settled", notFound: "settled" },
  createJob: { conflict: "thrown", notFound: "thrown" },
  // Members keep what passes too: the report names the object that is retried.
  apply: {
    conflict: "kept",
    notFound: "kept",
    transient: "kept",
    timeout: "kept",
    unauthorized: "kept",
    tooManyRequests: "kept",
  },
};
const others = {
  forbidden: "kept",
  invalid: "kept",
  tooLarge: "kept",
  transient: "thrown",
  timeout: "thrown",
  unauthorized: "thrown",
  tooManyRequests: "thrown",
  aborted: "thrown",
} as const;

const rows = Object.entries(ends).flatMap(([name, own]) =>
  Object.entries({ ...others, ...own }).map(([errorClass, want]) => ({
    name,
    errorClass: errorClass as ErrorClass,
    want,
  })),
);

describe("a write of a plan that fails", () => {
  test.each(rows)("$name, $errorClass: $want", async ({ name, errorClass, want }) => {
    const { bench, action } = prepared(name);
    bench.api.beforeWrite = () => {
      throw apiError(errorClass);
    };
    const error = await bench.carryOut(action);
    const kept = bench.memory.writeFailures.get(keyOf(name));
    expect(error === undefined ? undefined : classify(error)).toBe(
      want === "thrown" ? errorClass : undefined,
    );
    expect(kept?.action).toBe(want === "kept" ? action.kind : undefined);
    expect([kept?.count, kept?.triedAtMs]).toEqual(want === "kept" ? [1, benchMs] : [undefined, undefined]);
    expect(bench.events).toEqual([]);
  });

  test.each(Object.keys(ends))(
    "%s counts failures in a row, and forgets them when it succeeds",
    async (name) => {
      const { bench, action } = prepared(name);
      bench.api.beforeWrite = () => {
        throw apiError("forbidden");
      };
      for (const count of [1, 2, 3]) {
        await bench.carryOut(action);
        expect(bench.memory.writeFailures.get(keyOf(name))?.count).toBe(count);
      }
      bench.api.beforeWrite = () => undefined;
      expect(await bench.carryOut(action)).toBeUndefined();
      expect(bench.memory.writeFailures.size).toBe(0);
    },
  );

  test.each(["delete", "release"])("%s counts as requested only when the server has agreed", async (name) => {
    for (const errorClass of ["forbidden", "transient"] as const) {
      const { bench, action } = prepared(name);
      const live = bench.api.find(object.kind, object.metadata) ?? object;
      bench.api.beforeWrite = () => {
        throw apiError(errorClass);
      };
      await bench.carryOut(action);
      expect(bench.memory.isRequested(live, benchMs), errorClass).toBe(false);
      bench.api.beforeWrite = () => undefined;
      await bench.carryOut(action);
      expect(bench.memory.isRequested(live, benchMs), "agreed").toBe(true);
      expect([
        bench.memory.isRequested(live, benchMs + 4_999),
        bench.memory.isRequested(live, benchMs + 5_000),
      ]).toEqual([true, false]);
    }
  });

  test("a refused deletion of one object says nothing of two others", async () => {
    const names = ["one", "two", "three"];
    const bench = aPerformBench(names.map((name) => ({ ...object, metadata: { name, namespace: "ns" } })));
    bench.api.beforeWrite = ({ object: name }) => {
      if (name.endsWith("/two")) throw apiError("forbidden");
    };
    for (const live of bench.api.objects) await bench.carryOut(actions["delete"]?.(live) ?? createJob);
    expect(bench.api.objects.map(({ metadata }) => metadata.name)).toEqual(["two"]);
    expect([...bench.memory.writeFailures.keys()]).toEqual([
      identityKey(identityOf({ ...object, metadata: { name: "two", namespace: "ns" } })),
    ]);
  });
});

describe("the Job of a stage, when there is one under its name", () => {
  const made = jobObject(createJob.job, { plan, ownerLabels: { plan, revision: 1 } });
  const labels = [
    {
      manager: jobFieldManager,
      operation: "Update",
      fieldsV1: {
        "f:metadata": {
          "f:labels": Object.fromEntries(
            Object.keys(made.metadata.labels ?? {}).map((key) => [`f:${key}`, {}]),
          ),
        },
      },
    },
  ];
  const ours = { ...made, metadata: { ...made.metadata, managedFields: labels } };
  test.each([
    { name: "ours, from before a crash, is as good as made", given: ours, want: undefined },
    {
      name: "one without our labels has the name taken",
      given: { ...ours, metadata: { ...ours.metadata, labels: {} } },
      want: "NameTaken",
    },
    {
      name: "one of another plan has the name taken",
      given: {
        ...ours,
        metadata: {
          ...ours.metadata,
          ownerReferences: [{ apiVersion: "v1", kind: "InstallPlan", name: "p", uid: "uid-of-another-p" }],
        },
      },
      want: "NameTaken",
    },
    {
      name: "one whose labels another client wrote has the name taken",
      given: { ...made, metadata: { ...made.metadata, managedFields: [] } },
      want: "NameTaken",
    },
  ])("$name", async ({ given, want }) => {
    const bench = aPerformBench([given]);
    expect(await bench.carryOut(createJob)).toBeUndefined();
    const failure = bench.memory.writeFailures.get(jobKey);
    expect(failure?.reason).toBe(want);
    const output = want === undefined ? [undefined, undefined] : ["collision", "createJob"];
    expect([failure?.kind, failure?.action]).toEqual(output);
  });

  test("one that goes before it is looked at is made by the next reconcile", async () => {
    const bench = aPerformBench();
    bench.api.beforeWrite = () => {
      throw apiError("alreadyExists");
    };
    expect(await bench.carryOut(createJob)).toBeUndefined();
    expect(bench.memory.writeFailures.size).toBe(0);
  });
});

describe("an object that cannot be read after a conflict", () => {
  test.each([
    { name: "counts as absent when the server says so", errorClass: undefined, want: true },
    { name: "is unknown when the account may not read it", errorClass: "forbidden", want: false },
    { name: "is unknown when its kind no longer exists", errorClass: "notFound", want: false },
  ] as const)("$name", async ({ errorClass, want }) => {
    const bench = aPerformBench();
    bench.api.beforeWrite = () => {
      throw apiError("conflict");
    };
    bench.api.beforeRead = () => {
      if (errorClass !== undefined) throw apiError(errorClass);
    };
    const view = { ...aView("one"), kind: configMaps, live: undefined, ownership: { kind: "absent" } };
    const action = { kind: "apply", view, isRepair: false } as unknown as PlanAction;
    expect(await bench.carryOut(action)).toBeUndefined();
    expect(bench.memory.unlabelledObjects.has(identityKey(identityOf(object)))).toBe(want);
  });
});
