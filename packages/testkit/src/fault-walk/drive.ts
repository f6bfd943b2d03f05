import { eventually } from "../eventually.ts";
import type { Lives } from "./lives.ts";
import type { Trace } from "./trace.ts";
import type { WorkloadRun } from "./workload.ts";

/** Maximum time of a step, and of the way back to the end state of the reference; ten times what a busy machine takes. */
const limitMs = 180_000;
/** Without a write for this long, an operator that holds something back is at rest. */
const restMs = 2_500;

/** Does what the user does, step by step; gives the requests of each step. */
export async function drive(run: WorkloadRun, lives: Lives, canRest: boolean): Promise<readonly Trace[]> {
  const traces: Trace[] = [];
  for (const step of run.steps) {
    if (lives.harm !== undefined) break;
    const from = lives.trace.length;
    try {
      await step.act();
    } catch (error) {
      if (!lives.hasStruck) throw error;
    }
    const quiet = quietWatch(lives);
    await eventually(
      async (see) => {
        await lives.settled();
        if (lives.harm !== undefined) return true;
        const isDone = await step.isDone().catch(() => false);
        see(`step "${step.name}" is not done`);
        return isDone || (canRest && lives.hasStruck && quiet());
      },
      { withinMs: limitMs },
    );
    traces.push(lives.trace.slice(from));
  }
  return traces;
}

/** Waits until the operator has not written for a while. */
export async function untilQuiet(lives: Lives, forMs = restMs): Promise<void> {
  const quiet = quietWatch(lives, forMs);
  await eventually(() => quiet(), { withinMs: limitMs });
}

/** True once no write was seen for a while. */
function quietWatch(lives: Lives, forMs = restMs): () => boolean {
  let count = -1;
  let sinceMs = 0;
  return () => {
    const nowMs = performance.now();
    const { length } = lives.trace.filter(({ verb }) => !["get", "list", "watch"].includes(verb));
    if (length !== count) [count, sinceMs] = [length, nowMs];
    return nowMs - sinceMs > forMs;
  };
}

/** Whether something became true in time. */
export async function became(probe: () => Promise<boolean>, withinMs = limitMs): Promise<boolean> {
  try {
    return await eventually(probe, { withinMs });
  } catch {
    return false;
  }
}
