import { expect, test } from "vitest";

import { beforeFirstWrite } from "../../../src/preflight/before-first-write.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen } from "../../support/seen.ts";

const gone = { state: "Gone", hasLetGo: true } as const;

test.each([
  {
    name: "a plan that was never there",
    predecessors: [{ ...gone, name: "shop1", uid: "" }],
    want: ["NotReplaced"],
  },
  { name: "a plan that has gone meanwhile", predecessors: [{ ...gone, name: "shop-1", uid: "u" }], want: [] },
  { name: "no plan", predecessors: [], want: [] },
])("the start of a plan that replaces $name warns of $want", ({ predecessors, want }) => {
  const seen = aSeen(aPlan("p", { status: { replaces: [] } }));
  const cleared = beforeFirstWrite.find(({ name }) => name === "cleared");
  const replacement = { ...seen.replacement, predecessors };
  const verdict = cleared?.decide({ ...seen, replacement }, new Date(0));
  const warned = verdict?.actions?.flatMap((action) => (action.kind === "warn" ? [action.reason] : []));
  expect(warned).toEqual(want);
});
