import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { z } from "zod";

/** Where a report comes from. */
export interface ReportOrigin {
  readonly level: string;
  /** As `git describe --always --dirty` says it; `unknown` where the run did not note it. */
  readonly commit: string;
  readonly startedMs: number;
}

const report = z.object({ startTime: z.number() });

/** Origins of all readable reports of the directory, in the order of their names. The npm scripts note the commit beside each report. */
export function readOrigins(directory: string): readonly ReportOrigin[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
  return names.toSorted().flatMap((name) => {
    const level = basename(name, ".json");
    const note = join(directory, `${level}.commit`);
    const commit = existsSync(note) ? readFileSync(note, "utf8").trim() : "unknown";
    const { data } = report.safeParse(parsed(join(directory, name)));
    return data === undefined ? [] : [{ level, commit, startedMs: data.startTime }];
  });
}

/** One line per report, e.g. `unit: commit 1a2b3c4, 3 h old`. */
export function originLines(origins: readonly ReportOrigin[], nowMs: number): readonly string[] {
  return origins.map(({ level, commit, startedMs }) => {
    const minutes = Math.max(0, Math.round((nowMs - startedMs) / 60_000));
    const age = minutes < 120 ? `${String(minutes)} min` : `${String(Math.round(minutes / 60))} h`;
    return `${level}: commit ${commit}, ${age} old`;
  });
}

/** Undefined for a report that was cut off. */
function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
