import { createLog, type Log } from "@quartermaster/runtime";

/** A log that keeps its lines, written out as the operator writes it. */
export interface KeptLog {
  readonly log: Log;
  text(): string;
}

/** Keeps everything, down to debug. */
export function keepLog(): KeptLog {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { log: createLog({ level: "debug", destination }), text: () => lines.join("") };
}
