import { compilingMutations } from "./compiling-mutations.ts";
import { MutantTree } from "./mutant-tree.ts";
import type { Mutation } from "./mutation.ts";
import { ImportGraph } from "./related-tests.ts";
import { runTests } from "./run-tests.ts";

/** How a mutant ended. */
export interface MutantResult {
  readonly mutation: Mutation;
  /** The test that failed; undefined when none did. */
  readonly killedBy: string | undefined;
  readonly tookMs: number;
}

/** What is run. */
export interface MutantRun {
  /** The tree that is copied; it is never changed. */
  readonly source: string;
  readonly mutations: readonly Mutation[];
  /** Runs the integration tests of what the unit tests let pass (default: false). */
  readonly withIntegration?: boolean | undefined;
  readonly onResult: (result: MutantResult) => void;
}

const minuteMs = 60_000;

/** These run first: most mutants fail one of them. */
const nearest = 8;
/** What is shared is imported by nearly every test; those further away than these show nothing that nearer ones do not. */
const farthest = 60;

/** Runs, on a copy of the tree, the tests that import what each mutant changes. Those that do not compile are left out. */
export async function runMutants(run: MutantRun): Promise<readonly MutantResult[]> {
  using tree = new MutantTree(run.source);
  const graph = new ImportGraph(tree.root);
  const results: MutantResult[] = [];
  for (const mutation of compilingMutations(tree, run.mutations)) {
    const startMs = performance.now();
    tree.apply(mutation);
    const killedBy = await killerOf(tree.root, stagesOf(graph, mutation, run));
    tree.restore(mutation.file);
    const result = { mutation, killedBy, tookMs: performance.now() - startMs };
    run.onResult(result);
    results.push(result);
  }
  return results;
}

interface Stage {
  readonly level: "unit" | "integration";
  readonly files: readonly string[];
  readonly limitMs: number;
}

function stagesOf(
  graph: ImportGraph,
  { file }: Mutation,
  { withIntegration = false }: MutantRun,
): readonly Stage[] {
  const unit = graph.testsOf(file, "unit");
  const ownPackage = file.split("/src/")[0] ?? "";
  const integration = withIntegration ? graph.testsOf(file, "integration") : [];
  const stages: readonly Stage[] = [
    { level: "unit", files: unit.slice(0, nearest), limitMs: 2 * minuteMs },
    { level: "unit", files: unit.slice(nearest, farthest), limitMs: 4 * minuteMs },
    {
      level: "integration",
      files: integration.filter((test) => test.startsWith(ownPackage)),
      limitMs: 30 * minuteMs,
    },
  ];
  return stages.filter(({ files }) => files.length > 0);
}

async function killerOf(root: string, stages: readonly Stage[]): Promise<string | undefined> {
  for (const stage of stages) {
    const { passed, firstFailure } = await runTests({ root, ...stage });
    if (!passed) return firstFailure;
  }
  return undefined;
}
