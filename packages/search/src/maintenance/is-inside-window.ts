import { printable } from "@quartermaster/runtime";

import type { MaintenanceWindow } from "../model/maintenance-window.ts";
import type { SearchCluster, SpecIssue } from "../model/search-cluster.ts";
import { type CronSchedule, cronSchedule, isScheduledDay } from "./cron-schedule.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Longest time that a window may be open. */
const longestWindowMs = 7 * dayMs;

/** Whether one of the windows is open. Without a window, always. One that cannot be read is never open. */
export function isInsideWindow(windows: readonly MaintenanceWindow[], now: Date): boolean {
  return windows.length === 0 || windows.some((window) => isOpen(window, now.getTime()));
}

/** Whether a time zone is known, e.g. `Europe/Berlin`. */
function isTimeZone(timeZone: string): boolean {
  return zoneOf(timeZone) !== undefined;
}

/** The latest beginning decides: an earlier one would have ended before. */
function isOpen({ cron, durationMs, timeZone }: MaintenanceWindow, nowMs: number): boolean {
  const schedule = cronSchedule(cron);
  const zone = zoneOf(timeZone);
  if (schedule === undefined || zone === undefined) return false;
  // Longer ones are refused elsewhere; here they must not become a walk over centuries.
  const earliestMs = nowMs - Math.min(durationMs, longestWindowMs);
  const beganMs = latestStart(schedule, { zone, nowMs, earliestMs });
  return beganMs !== undefined && nowMs < beganMs + durationMs;
}

interface Search {
  readonly zone: Zone;
  readonly nowMs: number;
  readonly earliestMs: number;
}

function latestStart(schedule: CronSchedule, { zone, nowMs, earliestMs }: Search): number | undefined {
  // A day more on both sides: the zone's days begin and end elsewhere, and may have 23 or 25 hours.
  const today = startOfDay(wallMs(nowMs, zone));
  for (let day = today; day >= earliestMs - 2 * dayMs; day -= dayMs) {
    const begun = timesOn(schedule, day)
      .map((wall) => instantOf(wall, zone))
      .filter((instant) => instant <= nowMs);
    if (begun.length > 0) return Math.max(...begun);
  }
  return undefined;
}

function startOfDay(wall: number): number {
  return Math.floor(wall / dayMs) * dayMs;
}

/** Wall-clock times when a schedule begins on a day; as if they were UTC. */
function timesOn({ hours, minutes, ...schedule }: CronSchedule, day: number): readonly number[] {
  const date = new Date(day);
  const isDay = isScheduledDay(
    { hours, minutes, ...schedule },
    { month: date.getUTCMonth() + 1, day: date.getUTCDate(), weekday: date.getUTCDay() },
  );
  if (!isDay) return [];
  return hours.flatMap((hour) => minutes.map((minute) => day + (hour * 60 + minute) * minuteMs));
}

/** When clocks show a time: the first time, where they are set back; right after, where they are set forward over it. */
function instantOf(wall: number, zone: Zone): number {
  const [before = wall, after = wall] = [wall - dayMs, wall + dayMs].map(
    (near) => wall - offsetAt(near, zone),
  );
  const shown = [before, after].filter((instant) => wallMs(instant, zone) === wall);
  return shown.length > 0 ? Math.min(...shown) : before;
}

/** Wall-clock time at an instant, as if it were UTC. */
function wallMs(instant: number, zone: Zone): number {
  return instant + offsetAt(instant, zone);
}

/** Clocks are changed at full quarters of an hour: what one shows holds for all of it. */
function offsetAt(instant: number, { format, offsets }: Zone): number {
  const quarter = Math.floor(instant / quarterMs) * quarterMs;
  const known = offsets.get(quarter);
  if (known !== undefined) return known;
  const offset = shownAt(quarter, format) - quarter;
  if (offsets.size >= mostOffsets) offsets.clear();
  offsets.set(quarter, offset);
  return offset;
}

function shownAt(instant: number, format: Intl.DateTimeFormat): number {
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"));
}

/** A time zone, with the times that were computed for it: an author may declare times for every minute of the day. */
interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly offsets: Map<number, number>;
}

const quarterMs = 15 * minuteMs;
const mostOffsets = 4_096;
const mostZones = 600;
const zones = new Map<string, Zone>();

function zoneOf(timeZone: string): Zone | undefined {
  const known = zones.get(timeZone);
  if (known !== undefined) return known;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
    });
    const zone = { format, offsets: new Map<number, number>() };
    if (zones.size < mostZones) zones.set(timeZone, zone);
    return zone;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

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
