import type { InstallPlan } from "@quartermaster/api";
import { describe, expect, test } from "vitest";

import { fitted, rowsOf } from "../../src/output/terminal.ts";
import { colored } from "../../src/render/paint.ts";
import { isReady, statusTree } from "../../src/render/status-tree.ts";
import { aPlan, type Status } from "../support/plans.ts";

interface Row {
  readonly name: string;
  readonly status?: Status;
  readonly want: readonly string[];
}

const settings = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" };

describe("the tree of a plan", () => {
  test.each<Row>([
    {
      name: "that no one has looked at",
      want: [
        "InstallPlan shop/web  not observed yet",
        "  config     2 not yet applied",
        "  workloads  1 not yet applied",
      ],
    },
    {
      name: "on its way",
      status: {
        phase: "Applying",
        message: "Waiting for stage workloads.",
        attempt: 2,
        stage: "workloads",
        states: ["RS", "P"],
        details: [
          {
            stage: "workloads",
            index: 0,
            object: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" },
            state: "InProgress",
            reason: "ReplicasMissing",
            message: "1 of 3 replicas ready.",
          },
        ],
        jobs: [
          { stage: "config", name: "migrate", attempt: 1, state: "Succeeded" },
          { stage: "workloads", name: "smoke", attempt: 2, state: "Running", message: "second try" },
        ],
      },
      want: [
        "InstallPlan shop/web  Applying  attempt 2",
        "  Waiting for stage workloads.",
        "  config     2/2 ready",
        "    job migrate  Succeeded",
        "  workloads  0/1 ready  ← now",
        "    InProgress Deployment shop/web  ReplicasMissing: 1 of 3 replicas ready.",
        "    job smoke  Running (attempt 2)  second try",
      ],
    },
    {
      name: "whose texts try to steer the terminal",
      status: {
        phase: "Failed",
        states: ["C-", "-"],
        details: [
          {
            stage: "config",
            index: 0,
            object: settings,
            state: "Conflict",
            message: "a\u{1b}[2Jb\nc",
            otherManager: "kubectl\u{7}",
          },
        ],
      },
      want: [
        "InstallPlan shop/web  Failed",
        "  config     0/2 ready",
        "    Conflict ConfigMap shop/settings  a [2Jb c (kubectl )",
        "  workloads  1 not yet applied",
      ],
    },
  ])("$name", ({ status, want }) => {
    expect(statusTree(aPlan(status)).split("\n")).toEqual(want);
  });

  test("counts what the status does not list", () => {
    const details = Array.from({ length: 100 }, (_, index) => ({
      stage: "gone",
      index,
      object: settings,
      state: "Missing" as const,
    }));
    const counts = {
      total: 500,
      ready: 250,
      suspended: 50,
      inProgress: 0,
      failed: 0,
      missing: 200,
      drifted: 0,
      conflict: 0,
      terminating: 0,
      unknown: 0,
    };
    expect(statusTree(aPlan({ phase: "Installed", details, counts }))).toMatch(/and 100 more not ready$/);
  });

  test("has colours when asked", () => {
    expect(statusTree(aPlan({ phase: "Installed", states: ["RR", "R"] }), colored)).toContain(
      "\u{1b}[32mInstalled\u{1b}[0m",
    );
  });
});

describe("a plan is ready", () => {
  const ready = (status: "True" | "False"): Status["conditions"] => [
    { type: "Ready", status, reason: "Settled", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
  ];
  test.each<{ name: string; given: InstallPlan; want: boolean }>([
    {
      name: "when it says so of its latest spec",
      given: aPlan({ observedGeneration: 1, conditions: ready("True") }),
      want: true,
    },
    {
      name: "not when it says so of an older one",
      given: aPlan({ observedGeneration: 0, conditions: ready("True") }),
      want: false,
    },
    {
      name: "not when it says no",
      given: aPlan({ observedGeneration: 1, conditions: ready("False") }),
      want: false,
    },
    { name: "not when it says nothing", given: aPlan(), want: false },
  ])("$name", ({ given, want }) => {
    expect(isReady(given)).toBe(want);
  });
});

test.each([
  { name: "a wide terminal", columns: 80, want: 2 },
  { name: "a narrow one", columns: 3, want: 3 },
  { name: "one that knows no width", columns: 0, want: 2 },
])("the rows of a text are counted for $name", ({ columns, want }) => {
  expect(rowsOf("\u{1b}[31mtree\u{1b}[0m\nup", columns)).toBe(want);
});

test.each([
  { name: "all of it where there is room", columns: 80, rows: 5, want: ["a", "bb", "cccc", "d"] },
  { name: "the top of it on a low screen", columns: 80, rows: 4, want: ["a", "bb", "… 2 more lines"] },
  { name: "less of it where lines are broken", columns: 2, rows: 5, want: ["a", "bb", "… 2 more lines"] },
  { name: "all of it where no one knows", columns: 80, rows: 0, want: ["a", "bb", "cccc", "d"] },
])("of a text a watch shows $name", ({ columns, rows, want }) => {
  expect(fitted("a\nbb\ncccc\nd", { columns, rows }).split("\n")).toEqual(want);
});

test("a plan that was replaced has handed its objects over, and not left them unapplied", () => {
  const tree = statusTree(aPlan({ phase: "Superseded", states: ["--", "-"] }));
  expect(tree.split("\n").slice(1)).toEqual(["  config     2 handed over", "  workloads  1 handed over"]);
});
