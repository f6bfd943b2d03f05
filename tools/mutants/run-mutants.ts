import { checkTypes } from "./check-types.ts";
import type { LocatedMutant } from "./locate-mutant.ts";
import { MutantTree } from "./mutant-tree.ts";
import { runTests } from "./run-tests.ts";

/** How a mutant fared. */
export interface MutantResult {
  readonly mutant: LocatedMutant;
  /** The test that noticed; undefined when none did. */
  readonly killedBy: string | undefined;
  readonly tookMs: number;
}

/** What is run. */
export interface MutantRun {
  /** The tree that is copied; it is never changed. */
  readonly source: string;
  readonly mutants: readonly LocatedMutant[];
  readonly onResult: (result: MutantResult) => void;
}

/** The list, or the tree that it is about, is at fault: no mutant can be judged. */
export class MutantListError extends Error {
  readonly code = "MutantList";
}

const minuteMs = 60_000;

/**
 * Runs the tests of every mutant on a copy of the tree. Before that, the same tests must pass without a mutant, and all mutants
 * must compile: otherwise anything would count as noticed.
 */
export async function runMutants({ source, mutants, onResult }: MutantRun): Promise<readonly MutantResult[]> {
  using tree = new MutantTree(source);
  await assertPassing(tree.root, mutants);
  const errors = checkTypes(tree, mutants, source);
  if (errors.length > 0) throw new MutantListError(`mutants do not compile:\n${errors.join("\n")}`);
  const results: MutantResult[] = [];
  for (const mutant of mutants) {
    const result = await runOne(tree, mutant, source);
    onResult(result);
    results.push(result);
  }
  return results;
}

async function assertPassing(root: string, mutants: readonly LocatedMutant[]): Promise<void> {
  for (const [level, group] of Map.groupBy(mutants, (mutant) => mutant.level)) {
    const files = [...new Set(group.flatMap(({ testFiles }) => testFiles))];
    const { passed, firstFailure } = await runTests({ root, level, files, limitMs: 30 * minuteMs });
    if (!passed) throw new MutantListError(`without a mutant, this ${level} test fails: ${firstFailure}`);
  }
}

async function runOne(tree: MutantTree, mutant: LocatedMutant, source: string): Promise<MutantResult> {
  const startMs = performance.now();
  const { level, file, testFiles: files } = mutant;
  const limitMs = (level === "unit" ? 2 : 15) * minuteMs;
  tree.apply(mutant);
  try {
    const { passed, firstFailure } = await runTests({ root: tree.root, level, files, limitMs });
    const killedBy = passed ? undefined : firstFailure;
    return { mutant, killedBy, tookMs: performance.now() - startMs };
  } finally {
    tree.restore(source, file);
  }
}
