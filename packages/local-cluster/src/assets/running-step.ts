import type { System } from "../system/system.ts";
import type { AssetStep, ProgressReport } from "./progress.ts";

/** A step whose time is being shown. */
export interface RunningStep {
  /** Bytes received so far, for downloads. */
  received(bytes: number): void;
  finish(): Promise<void>;
  fail(reason: string): Promise<void>;
}

/** Reports the start of a step and then, once a second, how long it has taken, until it is finished or has failed. */
export function beginStep(step: AssetStep, report: ProgressReport, system: System): RunningStep {
  const startedMs = system.nowMs();
  const stop = new AbortController();
  const progress: { receivedBytes?: number } = {};
  report({ kind: "started", step });
  const elapsedMs = (): number => system.nowMs() - startedMs;
  const ticker = tick(system, stop.signal, () =>
    report({ kind: "advanced", step, elapsedMs: elapsedMs(), ...progress }),
  );
  const end = async (): Promise<void> => {
    stop.abort();
    await ticker;
  };
  return {
    received: (bytes) => {
      progress.receivedBytes = bytes;
    },
    finish: async () => {
      await end();
      report({ kind: "finished", step, elapsedMs: elapsedMs() });
    },
    fail: async (reason) => {
      await end();
      report({ kind: "failed", step, reason });
    },
  };
}

const TICK_MS = 1000;

async function tick(system: System, stopped: AbortSignal, show: () => void): Promise<void> {
  while (!stopped.aborted) {
    const isTime = await system.sleep(TICK_MS, stopped).then(
      () => true,
      () => false, // woken by the end of the step
    );
    if (isTime) show();
  }
}
