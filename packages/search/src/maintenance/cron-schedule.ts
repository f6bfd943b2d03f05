/** The five fields of a cron schedule as the values that match. */
export interface CronSchedule {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** Days of the month and of the week are both restricted: then either is enough, as in every cron. */
  readonly isEitherDay: boolean;
}

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const fields: readonly Field[] = [
  { first: 0, last: 59, names: [] },
  { first: 0, last: 23, names: [] },
  { first: 1, last: 31, names: [] },
  { first: 1, last: 12, names: monthNames },
  { first: 0, last: 7, names: dayNames },
];

/** Reads e.g. `0 2 * * sat,sun`: numbers, names, ranges, lists and steps. Undefined for anything else. */
export function cronSchedule(text: string): CronSchedule | undefined {
  const parts = text.trim().toLowerCase().split(/\s+/);
  if (parts.length !== fields.length || text.length > 256) return undefined;
  const values = fields.flatMap((field, at) => {
    const all = valuesOf(parts[at] ?? "", field);
    return all === undefined ? [] : [all];
  });
  if (values.length !== fields.length) return undefined;
  const [minutes = [], hours = [], days, months, weekdays = []] = values;
  return {
    minutes,
    hours,
    days: new Set(days),
    months: new Set(months),
    weekdays: new Set(weekdays.map((day) => day % 7)),
    isEitherDay: [parts[2], parts[4]].every((part) => part?.startsWith("*") === false),
  };
}

/** Whether a schedule has times on a day. `month` begins with 1. */
export function isScheduledDay(
  { days, months, weekdays, isEitherDay }: CronSchedule,
  { month, day, weekday }: { readonly month: number; readonly day: number; readonly weekday: number },
): boolean {
  if (!months.has(month)) return false;
  if (isEitherDay) return days.has(day) || weekdays.has(weekday);
  return days.has(day) && weekdays.has(weekday);
}

interface Field {
  readonly first: number;
  readonly last: number;
  /** Of the values from `first` on. */
  readonly names: readonly string[];
}

/** Sorted, without doubles; undefined if a part cannot be read. */
function valuesOf(text: string, field: Field): readonly number[] | undefined {
  const parts = text.split(",").map((part) => rangeOf(part, field));
  if (parts.includes(undefined)) return undefined;
  return [...new Set(parts.flatMap((part) => part ?? []))].toSorted((one, other) => one - other);
}

function rangeOf(part: string, field: Field): readonly number[] | undefined {
  const [range = "", step = "1", ...rest] = part.split("/");
  if (rest.length > 0 || !/^[1-9]\d?$/.test(step)) return undefined;
  const ends = endsOf(range, field, part.includes("/"));
  if (ends === undefined) return undefined;
  const by = Number(step);
  const count = Math.floor((ends.last - ends.first) / by) + 1;
  return Array.from({ length: count }, (_, at) => ends.first + at * by);
}

/** First and last value. `5/15` continues to the end, as a star with a step does. */
function endsOf(range: string, field: Field, hasStep: boolean): Pick<Field, "first" | "last"> | undefined {
  if (range === "*") return field;
  const [from = "", to = hasStep ? String(field.last) : from, ...rest] = range.split("-");
  const [first, last] = [numberOf(from, field), numberOf(to, field)];
  if (first === undefined || last === undefined || last < first) return undefined;
  return rest.length > 0 ? undefined : { first, last };
}

function numberOf(text: string, { first, last, names }: Field): number | undefined {
  const named = names.indexOf(text);
  const value = named >= 0 ? named + first : Number(/^\d{1,2}$/.test(text) ? text : Number.NaN);
  return value >= first && value <= last ? value : undefined;
}
