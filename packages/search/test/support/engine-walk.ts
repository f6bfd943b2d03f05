import { isDeepStrictEqual } from "node:util";

import { pods } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";

import { type EngineCall, engineCalls, engineReads } from "../../src/engine/engine-client.ts";
import type { EngineHealth } from "../../src/engine/engine-facts.ts";
import type { FakeFault } from "../fakes/index.ts";
import { type Disruption, operateWatched, type WatchedOperator } from "./disruptions.ts";
import type { SearchBench } from "./search-bench.ts";
import type { SearchRun } from "./search-workload.ts";

/** A workload of which the engine's side is disturbed. */
export interface EngineWorkload {
  readonly name: string;
  setUp(): Promise<SearchRun>;
  /** Node that fails, where faults are about nodes. */
  readonly victim?: string;
}

/** Ids as in docs/acceptance/faults.md, with their forms. */
export const engineFaultIds = [
  "P1-before",
  "P1-after",
  "P1-late",
  "P1-overload",
  "P1-error",
  "P1-reset",
  "P1-cut",
  "P2-unacknowledged",
  "P2-stale-health",
  "P2-no-shards",
  "P2-flapping",
  "P3-killed",
  "P3-paused",
  "P3-cut-off",
  "P3-disk-full",
] as const;

export type EngineFaultId = (typeof engineFaultIds)[number];

/** A fault at one write of one run. */
export interface EnginePlan {
  readonly call: string;
  /** Which of the writes of that name, from 1. */
  readonly occurrence: number;
  readonly fault: EngineFaultId;
}

/** E.g. `P1-late at putSettings #2`. */
export function enginePlanName({ fault, call, occurrence }: EnginePlan): string {
  return `${fault} at ${call} #${String(occurrence)}`;
}

export interface EngineReference {
  readonly points: readonly Pick<EnginePlan, "call" | "occurrence">[];
  readonly end: unknown;
}

/** Of each name; a retry adds nothing. */
const mostOccurrences = 3;
const limitMs = 120_000;
/** Calls of the operator for which a node stays away, or the engine lies. */
const spell = 24;

/** Runs a workload undisturbed and learns its writes to the engine. */
export async function learnEngine(workload: EngineWorkload): Promise<EngineReference> {
  await using run = await workload.setUp();
  const counts = new Map<string, number>();
  const points: EngineReference["points"][number][] = [];
  run.bench.engines.onCall = (call) => {
    if (!isWrite(call)) return;
    const occurrence = (counts.get(call) ?? 0) + 1;
    counts.set(call, occurrence);
    if (occurrence <= mostOccurrences) points.push({ call, occurrence });
  };
  await using operator = await operateWatched(run.bench);
  await drive(run);
  const problem = harmIn(operator.disruptions);
  if (problem !== undefined) throw new Error(`undisturbed: ${problem}`);
  return { points, end: await run.endState() };
}

/** Every fault at every write. */
export function engineFaultPlans(
  { victim }: EngineWorkload,
  { points }: EngineReference,
): readonly EnginePlan[] {
  const ids = engineFaultIds.filter((id) => victim !== undefined || writeProblems[id] !== undefined);
  return points.flatMap((point) => ids.map((fault) => ({ ...point, fault })));
}

/** The first rule that the disturbed run breaks; undefined where it keeps all, `not reached` where it has no such write. */
export async function runEnginePlan(
  workload: EngineWorkload,
  plan: EnginePlan,
  { end }: EngineReference,
): Promise<string | undefined> {
  await using run = await workload.setUp();
  const strike = new Strike(run.bench, plan, workload.victim);
  await using operator = await operateWatched(run.bench);
  try {
    await drive(run);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (!strike.hasStruck) return "not reached";
  return harmIn(operator.disruptions) ?? (await wrongEnd(run, end));
}

async function drive({ steps }: SearchRun): Promise<void> {
  for (const step of steps) {
    await step.act();
    await eventually(
      async (see) => {
        see(`step "${step.name}" is not done`);
        return await step.isDone();
      },
      { withinMs: limitMs },
    );
  }
}

async function wrongEnd(run: SearchRun, end: unknown): Promise<string | undefined> {
  let last: unknown;
  try {
    await eventually(async () => isDeepStrictEqual((last = await run.endState()), end), { withinMs: 30_000 });
    return undefined;
  } catch {
    return `the end differs: ${JSON.stringify(last)} instead of ${JSON.stringify(end)}`;
  }
}

/** One node away at most, none with a vote that counts or the only copy of something, and each pod once. */
function harmIn(disruptions: WatchedOperator["disruptions"]): string | undefined {
  const bad = disruptions.find(isHarmful);
  if (bad !== undefined) return `a node was taken away while it must not be: ${JSON.stringify(bad)}`;
  const deleted = disruptions.filter(({ by }) => by === "delete").flatMap(({ nodes }) => nodes);
  const twice = deleted.find((node, at) => deleted.indexOf(node) !== at);
  return twice === undefined ? undefined : `${twice} was restarted twice`;
}

function isHarmful({ by, nodes, voters, away, onlyCopies }: Disruption): boolean {
  const isOnlyCopy = by === "shrink" && onlyCopies.length > 0;
  const isVoter = by === "shrink" && nodes.some((node) => voters.includes(node));
  return nodes.length > 1 || away.length > 0 || isOnlyCopy || isVoter;
}

function isWrite(call: string): boolean {
  return writes.has(call);
}

const writes: ReadonlySet<string> = new Set(engineCalls.filter((call) => !engineReads.includes(call)));

/** Waits for the write of a plan and does the fault to it. */
class Strike {
  readonly #bench: SearchBench;
  readonly #plan: EnginePlan;
  readonly #victim: string;
  #count = 0;
  #left = 0;
  hasStruck = false;

  constructor(bench: SearchBench, plan: EnginePlan, victim = "") {
    this.#bench = bench;
    this.#victim = victim;
    this.#plan = plan;
    this.#bench.engines.onCall = (call) => {
      this.#see(call);
    };
  }

  #see(call: string): void {
    if (this.hasStruck) {
      this.#left -= 1;
      if (this.#left === 0) this.#restore();
      return;
    }
    if (call !== this.#plan.call) return;
    this.#count += 1;
    if (this.#count !== this.#plan.occurrence) return;
    this.hasStruck = true;
    this.#left = spell;
    this.#strike();
  }

  #strike(): void {
    const { engines } = this.#bench;
    const { faults } = engines.engine("logs");
    const { fault, call } = this.#plan;
    const atWrite = writeProblems[fault];
    if (atWrite !== undefined) faults.plan({ call: call as EngineCall, fault: atWrite, times: 1 });
    if (fault === "P2-no-shards")
      faults.plan({ call: "shards", fault: { kind: "lie", value: [] }, times: 4 });
    if (fault === "P2-stale-health") faults.plan({ call: "health", fault: stale(), times: 6 });
    if (fault === "P2-flapping") faults.plan({ call: "health", fault: flapping(), times: 8 });
    if (fault === "P3-cut-off") engines.cut();
    if (fault === "P3-disk-full") engines.engine("logs").load = { diskTotalBytes: 1_000, diskFreeBytes: 10 };
    if (fault === "P3-killed" || fault === "P3-paused") engines.down.add(this.#victim);
    if (fault === "P3-killed") void this.#deletePod(this.#victim);
  }

  /** A process that was killed, that is paused, or that cannot be reached is back after a while. */
  #restore(): void {
    const { engines } = this.#bench;
    engines.down.clear();
    engines.reconnect();
    engines.engine("logs").load = {};
  }

  async #deletePod(name: string): Promise<void> {
    const { client, namespace } = this.#bench;
    // It may be away already: an operation was about to begin with it.
    if ((await client.find(pods, { namespace, name })) === undefined) return;
    await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
  }
}

/** What becomes of the write itself; lies and nodes leave it alone. */
const writeProblems: Readonly<Partial<Record<EngineFaultId, FakeFault>>> = {
  "P1-before": { kind: "throw", code: "timeout" },
  "P1-after": { kind: "throw", code: "timeout", isActed: true },
  "P1-late": { kind: "late", afterMs: 1_500 },
  "P1-overload": { kind: "throw", code: "unavailable" },
  "P1-error": { kind: "throw", code: "unavailable", isActed: true },
  "P1-reset": { kind: "throw", code: "unreachable", isActed: true },
  "P1-cut": { kind: "throw", code: "unreadable", isActed: true },
  // The engine has it, and some nodes do not yet: the client says `timeout`.
  "P2-unacknowledged": { kind: "throw", code: "timeout", isActed: true },
};

function stale(): FakeFault {
  let first: unknown;
  return { kind: "alter", change: (truth) => (first ??= truth) };
}

function flapping(): FakeFault {
  let count = 0;
  const colors: readonly EngineHealth["status"][] = ["red", "yellow", "green"];
  return {
    kind: "alter",
    change: (truth) => {
      count += 1;
      return { ...(truth as EngineHealth), status: colors[count % colors.length] };
    },
  };
}
