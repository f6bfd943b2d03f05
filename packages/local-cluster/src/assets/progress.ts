import { realSystem, type System } from "../system/system.ts";

/** A component being fetched, or one or several being built in parallel. */
export interface AssetStep {
  readonly action: "building" | "downloading";
  readonly component: string;
  /** Built by the same call of Go. */
  readonly others?: readonly string[] | undefined;
  readonly version: string;
  /** This is the `position`-th of `total` components that were not there; the others follow it. */
  readonly position: number;
  readonly total: number;
  /** The next step of the same worker. */
  readonly next?: string | undefined;
  /** On two idle cores with an empty Go cache; downloads have none. */
  readonly expectedSeconds?: number | undefined;
}

/** Progress of providing binaries. `advanced` comes about once a second. */
export type ProgressEvent =
  | { readonly kind: "started"; readonly step: AssetStep }
  | {
      readonly kind: "advanced";
      readonly step: AssetStep;
      readonly elapsedMs: number;
      readonly receivedBytes?: number;
    }
  | { readonly kind: "finished"; readonly step: AssetStep; readonly elapsedMs: number }
  | { readonly kind: "failed"; readonly step: AssetStep; readonly reason: string }
  | { readonly kind: "note"; readonly text: string };

/** Receives progress; must not throw. */
export type ProgressReport = (event: ProgressEvent) => void;

/** One line for a user, without line end. */
export function describeProgress(event: ProgressEvent): string {
  switch (event.kind) {
    case "started":
      return `${nameStep(event.step)}${expectation(event.step)}${outlook(event.step)}`;
    case "advanced":
      return `${nameStep(event.step)} … ${clock(event.elapsedMs)}${received(event.receivedBytes)}${outlook(event.step)}`;
    case "finished":
      return `${nameStep(event.step)}: done in ${clock(event.elapsedMs)}`;
    case "failed":
      return `${nameStep(event.step)}: ${event.reason}`;
    case "note":
      return event.text;
    default:
      return unreachable(event);
  }
}

function nameStep({ action, component, others = [], version, position, total }: AssetStep): string {
  const last = others.length === 0 ? "" : `-${position + others.length}`;
  return `${action} ${[component, ...others].join(", ")} ${version} (${position}${last} of ${total})`;
}

function expectation({ expectedSeconds }: AssetStep): string {
  return expectedSeconds === undefined ? "" : `, about ${clock(expectedSeconds * 1000)}`;
}

function outlook({ next }: AssetStep): string {
  return next === undefined ? "" : `, next: ${next}`;
}

function received(bytes: number | undefined): string {
  return bytes === undefined ? "" : `, ${Math.round(bytes / 1_000_000)} MB`;
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function unreachable(event: never): never {
  throw new Error(`unknown progress event ${JSON.stringify(event)}`);
}

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
