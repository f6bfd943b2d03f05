import { realSystem, type System } from "../system/system.ts";
import type { ProgressEvent, ProgressReport } from "./progress.ts";
import { describeProgress } from "./progress.ts";

/** Where progress is shown: `process.stderr`, or anything like it. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * Shows progress. A terminal gets one line that is rewritten, with all running steps on it; a log gets a line when a step
 * starts and ends, and one every 30 s in between.
 */
export function progressPrinter(
  stream: ProgressStream,
  system: Pick<System, "nowMs"> = realSystem,
): ProgressReport {
  return stream.isTTY === true ? terminalPrinter(stream) : logPrinter(stream, system);
}

const QUIET_MS = 30_000;
const CLEAR_LINE = "\r\u001b[2K";

function terminalPrinter(stream: ProgressStream): ProgressReport {
  const running = new Map<string, string>();
  return (event) => {
    const line = describeProgress(event);
    const lasting = trackRunning(running, event, line);
    const live = [...running.values()].join(" | ").slice(0, Math.max(20, (stream.columns ?? 80) - 1));
    stream.write(`${CLEAR_LINE}${lasting ? `${line}\n` : ""}${live}`);
  };
}

/** Keeps the map of running steps; true when the line is to stay on the screen. */
function trackRunning(running: Map<string, string>, event: ProgressEvent, line: string): boolean {
  if (event.kind === "note") return true;
  if (event.kind === "started" || event.kind === "advanced") {
    running.set(event.step.component, line);
    return false;
  }
  running.delete(event.step.component);
  return true;
}

function logPrinter(stream: ProgressStream, system: Pick<System, "nowMs">): ProgressReport {
  const lastShownMs = new Map<string, number>();
  return (event) => {
    const component = event.kind === "note" ? "" : event.step.component;
    const silentMs = system.nowMs() - (lastShownMs.get(component) ?? 0);
    if (event.kind === "advanced" && silentMs < QUIET_MS) return;
    lastShownMs.set(component, system.nowMs());
    stream.write(`${describeProgress(event)}\n`);
  };
}
