import type { MutantResult } from "./run-mutants.ts";

/** One line about one mutant. */
export function mutantLine({ mutant, killedBy, tookMs }: MutantResult): string {
  const verdict = killedBy === undefined ? "SURVIVED" : "killed";
  const words = killedBy ?? `${mutant.file}: ${mutant.find.trim()}`;
  return [
    verdict.padEnd(8),
    mutant.name.padEnd(44),
    `${(tookMs / 1000).toFixed(1)} s`.padStart(7),
    words.slice(0, 100),
  ].join("  ");
}

/** How many of a hundred mutants have to be noticed. */
const wantedPercent = 95;

/** The last lines of a run, and whether enough mutants were noticed. */
export function summarizeMutants(results: readonly MutantResult[]): {
  readonly lines: readonly string[];
  readonly isGood: boolean;
} {
  const survivors = results.filter(({ killedBy }) => killedBy === undefined);
  const killed = results.length - survivors.length;
  const isGood = results.length > 0 && killed * 100 >= wantedPercent * results.length;
  return {
    lines: [
      ...survivors.map(({ mutant }) => `survived: ${mutant.name}`),
      `${killed} of ${results.length} mutants killed (at least ${wantedPercent} % wanted)`,
    ],
    isGood,
  };
}
