import { interruptEachWrite, type Interruption, textOfWrite, writesUponOthers } from "@quartermaster/testkit";

import type { SearchAction } from "../../src/search-action.ts";
import { type BenchOptions, type PerformBench, performBench } from "./perform-bench.ts";

/** Actions that write to the engine, and record in a Secret what they wrote. */
export type EngineActionKind =
  | "reloadCertificates"
  | "initSecurity"
  | "putEntities"
  | "hashPassword"
  | "fitAuditIndex"
  | "deleteEntity"
  | "putLicense"
  | "startLicense"
  | "keepRepositories"
  | "keepSettings";

/** One action, what is there, and the writes that it comes to. */
export interface PerformRow {
  readonly name: string;
  readonly given?: BenchOptions;
  readonly action: SearchAction | ((bench: PerformBench) => SearchAction);
  /** Writes in their order, each with the preconditions that it carries. */
  readonly want: readonly string[];
  /** Class or code of the error that it ends with (default: none). */
  readonly fails?: string;
  /** Writes that follow although one of them failed (default: none does). */
  readonly continues?: readonly string[];
  /** What it writes is random: names of what is there are compared, not their content. */
  readonly isRandom?: boolean;
  /** Repeated as it is, it is refused: rules decide by what is there then. Default: it can be repeated. */
  readonly isDecidedAgain?: boolean;
}

export interface PerformResult {
  readonly writes: readonly string[];
  readonly error: string | undefined;
  /** Writes that were carried out upon an object which another client had put in the place of the one that was meant. */
  readonly uponOthers: readonly string[];
  /** Writes after whose failure others follow that should not, or that cannot be repeated. */
  readonly unsafe: readonly Interruption[];
}

/** Every row is to end so. */
export function wanted({ want, fails }: PerformRow): PerformResult {
  return { writes: want, error: fails, uponOthers: [], unsafe: [] };
}

/** Runs a row: its writes, its writes when each of them fails in turn, and its writes when another client comes first. */
export async function performed({ given, action, ...row }: PerformRow): Promise<PerformResult> {
  const start = async (): Promise<StartedRow> => {
    const bench = await performBench(given);
    const act = typeof action === "function" ? action(bench) : action;
    const isSame = row.isRandom === true ? haveSameNames : undefined;
    return {
      api: bench.api,
      isSame,
      run: async () => {
        await bench.run(act);
      },
    };
  };
  const { api, run } = await start();
  const error = await run().then(
    () => undefined,
    (thrown: unknown) => codeOf(thrown),
  );
  const continued = new Set(row.continues);
  const interruptions = await interruptEachWrite(quiet(start));
  return {
    writes: api.writes.map(textOfWrite),
    error,
    uponOthers: await writesUponOthers(quiet(start)),
    unsafe: interruptions.filter(
      ({ after, isRepeatable }) =>
        (!isRepeatable && row.isDecidedAgain !== true) || after.some((write) => !continued.has(write)),
    ),
  };
}

interface StartedRow {
  readonly api: PerformBench["api"];
  readonly run: () => Promise<void>;
  readonly isSame: ((one: object, other: object) => boolean) | undefined;
}

/** What an action ends with was looked at; from here on only what is left counts. */
function quiet(start: () => Promise<StartedRow>): () => Promise<StartedRow> {
  return async () => {
    const started = await start();
    return {
      ...started,
      run: async () => {
        await Promise.allSettled([started.run()]);
      },
    };
  };
}

function haveSameNames(one: object, other: object): boolean {
  return Object.keys(one).join() === Object.keys(other).join();
}

function codeOf(thrown: unknown): string {
  const { code, reason, class: kind } = thrown as { code?: string; reason?: string; class?: string };
  return code ?? reason ?? kind ?? String(thrown);
}
