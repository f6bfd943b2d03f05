import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { faultTable, readFaultResults } from "../campaign/fault-table.ts";

/** A line of a record from `workload, fault, write, verdict`. */
function lineOf(text: string): string {
  const [workload, disturbance, key, verdict] = text.split(", ");
  return JSON.stringify({
    plan: { workload, disturbance, point: { key, occurrence: 1 } },
    verdict,
    tookMs: 1,
  });
}

test("counts points and verdicts of each workload and each fault, of records of campaigns alone", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "faults-"));
  const plan = [lineOf("plan, C1, create a, passed"), lineOf("plan, I5, create a, failed")];
  writeFileSync(join(directory.path, "plan.jsonl"), `${plan.join("\n")}\n{"plan":{"work`);
  writeFileSync(join(directory.path, "bundle.jsonl"), lineOf("bundle, C1, create a, excepted"));
  writeFileSync(join(directory.path, "plan.sample.jsonl"), lineOf("plan, C1, create b, passed"));
  const cells = faultTable(readFaultResults(directory.path)).map((line) => line.split(/\s+/));
  expect(cells).toEqual([
    ["workload", "points", "passed", "failed", "excepted", "notApplicable", "notReached"],
    ["bundle", "1", "0", "0", "1", "0", "0"],
    ["plan", "1", "1", "1", "0", "0", "0"],
    ["fault", "points", "passed", "failed", "excepted", "notApplicable", "notReached"],
    ["C1", "2", "1", "0", "1", "0", "0"],
    ["I5", "1", "0", "1", "0", "0", "0"],
  ]);
});

test("is empty without a record", () => {
  expect(faultTable(readFaultResults(join(tmpdir(), "no-such-directory")))).toEqual([]);
});
