import { runMeasured } from "../process-usage.ts";
import { megabytes } from "../table.ts";
import type { PlanBed } from "./bed.ts";
import { agents, describeRequests, type Requests, requestsSince } from "./requests.ts";

/** One thing done, and what it took. */
export interface Lap {
  readonly wallMs: number;
  /** Of the contestant's process; left out where it has none of its own. */
  readonly cpuMs?: number;
  readonly peakBytes?: number;
  readonly requests: Requests;
  /** Why it did not end well, in the program's own words. */
  readonly failure?: string | undefined;
}

/** A command-line tool, measured from its start to its end. */
export async function toolLap(
  bed: PlanBed,
  tool: "kubectl" | "helm" | "kapp",
  args: readonly string[],
): Promise<Lap> {
  const position = await bed.audit.position();
  const { wallMs, cpuMs, peakBytes, code, complaint } = await runMeasured(bed.programs[tool], args, bed.env);
  const requests = await requestsSince(bed.audit, position, agents[tool]);
  return { wallMs, cpuMs, peakBytes, requests, ...(code === 0 ? {} : { failure: complaint.slice(0, 300) }) };
}

/** What the operator took while it worked on something. Its peak is that of its whole life so far. */
export async function operatorLap(bed: PlanBed, request: () => Promise<unknown>): Promise<Lap> {
  const position = await bed.audit.position();
  const before = bed.operator.usage();
  const startedMs = performance.now();
  await request();
  const wallMs = performance.now() - startedMs;
  const after = bed.operator.usage();
  const requests = await requestsSince(bed.audit, position, agents.ours);
  return { wallMs, cpuMs: after.cpuMs - before.cpuMs, peakBytes: after.peakBytes, requests };
}

/** For people: wall, CPU, memory, requests. */
export function describeLap({ wallMs, cpuMs, peakBytes, requests, failure }: Lap): string {
  if (failure !== undefined) return `fails after ${wallMs.toFixed(0)} ms: ${failure}`;
  const process =
    cpuMs === undefined ? "" : `, ${cpuMs.toFixed(0)} ms CPU, ${megabytes(peakBytes ?? 0)} peak`;
  return `${wallMs.toFixed(0)} ms wall${process}, requests ${describeRequests(requests)}`;
}
