import type { MutantResult } from "./run-mutants.ts";

/** One line about one mutant. */
export function mutantLine({ mutation, killedBy, tookMs }: MutantResult): string {
  const verdict = killedBy === undefined ? "SURVIVED" : "killed";
  const seconds = `${(tookMs / 1000).toFixed(1)} s`.padStart(7);
  return [verdict.padEnd(8), mutation.operator.padEnd(18), seconds, mutation.title].join("  ");
}

/** Listed mutants of which at least this share has to be killed; generated ones may be equivalent to the code. */
const wantedPercent = 95;

/** The last lines of a run: survivors, then killed and all by operator. */
export function summarizeMutants(results: readonly MutantResult[]): {
  readonly lines: readonly string[];
  readonly isGood: boolean;
} {
  const survivors = results.filter(({ killedBy }) => killedBy === undefined);
  const killed = results.length - survivors.length;
  const groups = [...Map.groupBy(results, ({ mutation }) => mutation.operator)];
  return {
    lines: [
      ...survivors.map(({ mutation }) => `survived: ${mutation.operator}: ${mutation.title}`),
      ...groups.map(([operator, group]) => {
        const count = group.filter(({ killedBy }) => killedBy !== undefined).length;
        return `${operator.padEnd(18)} ${String(count)} of ${String(group.length)} killed`;
      }),
      `${String(killed)} of ${String(results.length)} mutants killed`,
    ],
    isGood: results.length > 0 && killed * 100 >= wantedPercent * results.length,
  };
}
