import { existsSync, globSync, readFileSync } from "node:fs";

import { z } from "zod";

const result = z.object({
  plan: z.object({
    workload: z.string(),
    disturbance: z.string(),
    point: z.object({ key: z.string(), occurrence: z.number() }),
  }),
  verdict: z.string(),
});

/** Outcome of one plan of a fault walk, as its record has it. */
export type FaultResult = z.infer<typeof result>;

/** Results of the fault walks that campaigns recorded; a line that was cut off is left out. */
export function readFaultResults(directory: string): readonly FaultResult[] {
  if (!existsSync(directory)) return [];
  return globSync(`${directory}/*.jsonl`)
    .filter((path) => !path.endsWith(".sample.jsonl"))
    .toSorted()
    .flatMap((path) => readFileSync(path, "utf8").split("\n").flatMap(parsed));
}

function parsed(line: string): readonly FaultResult[] {
  try {
    return [result.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}

const verdicts = ["passed", "failed", "excepted", "notApplicable", "notReached"] as const;

/** Plans by verdict: a line for each workload with its write points, then one for each fault. */
export function faultTable(results: readonly FaultResult[]): readonly string[] {
  if (results.length === 0) return [];
  return [
    row("workload", "points", verdicts),
    ...rowsBy(results, ({ plan }) => plan.workload),
    row("fault", "points", verdicts),
    ...rowsBy(results, ({ plan }) => plan.disturbance),
  ];
}

function rowsBy(results: readonly FaultResult[], nameOf: (each: FaultResult) => string): readonly string[] {
  const groups = [...Map.groupBy(results, nameOf)].toSorted(([one], [other]) => one.localeCompare(other));
  return groups.map(([name, group]) => {
    const points = new Set(
      group.map(({ plan }) => `${plan.workload} ${plan.point.key} ${String(plan.point.occurrence)}`),
    );
    const counts = verdicts.map((verdict) => String(group.filter((each) => each.verdict === verdict).length));
    return row(name, String(points.size), counts);
  });
}

function row(name: string, points: string, cells: readonly string[]): string {
  return [name.padEnd(18), points.padStart(6), ...cells.map((cell) => cell.padStart(14))].join("");
}
