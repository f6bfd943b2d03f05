import { durationMs } from "@quartermaster/runtime";

/** A time in which nodes may be taken away. */
export interface MaintenanceWindow {
  readonly cron: string;
  readonly durationMs: number;
  readonly timeZone: string;
}

/** Reads one as it is declared; a duration that cannot be read is none. */
export function maintenanceWindow({
  cron,
  duration,
  timeZone,
}: {
  readonly cron: string;
  readonly duration: string;
  readonly timeZone: string;
}): MaintenanceWindow {
  return { cron, durationMs: durationMs(duration) ?? 0, timeZone };
}
