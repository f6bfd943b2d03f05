import { printable } from "@quartermaster/runtime";

import type { SearchCluster, SpecIssue } from "../model/search-cluster.ts";
import { cronSchedule } from "./cron-schedule.ts";
import { isTimeZone, longestWindowMs } from "./is-inside-window.ts";

/** Maintenance windows that cannot be read: one that never opens would keep every change back without a word. */
export function windowIssues({ windows }: Pick<SearchCluster, "windows">): readonly SpecIssue[] {
  return windows.flatMap(({ cron, durationMs, timeZone }, at) => {
    const path = `spec.operations.windows[${String(at)}]`;
    const issue = (field: string, message: string): SpecIssue => ({
      path: `${path}.${field}`,
      reason: "InvalidSpec",
      message,
    });
    return [
      ...(cronSchedule(cron) === undefined
        ? [issue("cron", `${printable(cron.slice(0, 100))} is not a schedule: write e.g. 0 2 * * sat`)]
        : []),
      ...(isTimeZone(timeZone)
        ? []
        : [
            issue(
              "timeZone",
              `${printable(timeZone.slice(0, 100))} is not a time zone: write e.g. Europe/Berlin`,
            ),
          ]),
      ...(durationMs >= 60_000 && durationMs <= longestWindowMs
        ? []
        : [issue("duration", "must be between 1m and 168h")]),
    ];
  });
}
