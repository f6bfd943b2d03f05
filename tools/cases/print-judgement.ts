import type { Judgement, Standing } from "./judge-cases.ts";

/** One line per specification, `name met/total`, and indented below it the failing and the missing ids. */
export function printJudgement({ standings, unknown, broken }: Judgement): readonly string[] {
  const width = Math.max(0, ...standings.map(({ name }) => name.length));
  return [
    ...standings.flatMap((standing) => printStanding(standing, width)),
    ...listLine("unknown", unknown),
    ...listLine("did not run", broken),
  ];
}

function printStanding(
  { name, met, belowLevel, total, failing, missing, skipped }: Standing,
  width: number,
): readonly string[] {
  const owned = missing.map((id) => (skipped.includes(id) ? `${id} (skipped)` : id));
  return [
    `${name.padEnd(width)} ${met.length}/${total}`,
    ...listLine("  failing", failing),
    ...listLine("  met below the level that the specification names", belowLevel),
    ...listLine("  missing", owned),
    ...listLine(
      "  met, with a skipped test beside it",
      skipped.filter((id) => met.includes(id)),
    ),
  ];
}

function listLine(label: string, ids: readonly string[]): readonly string[] {
  return ids.length === 0 ? [] : [`${label}: ${ids.join(", ")}`];
}
