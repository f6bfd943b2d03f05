/** Units that a name may end with. Names that end with none of them say nothing. */
const units = ["Ms", "Seconds", "Minutes", "Hours", "Days", "Bytes", "KiB", "MiB", "GiB", "Percent"] as const;

/** A unit of time or size. */
export type Unit = (typeof units)[number];

/** The unit in which a name says it counts: `Ms` of `timeoutMs`, and `Seconds` of the API's `timeoutSeconds`; undefined without one. */
export function unitOf(name: string): Unit | undefined {
  return units.find((unit) => name.endsWith(unit) || name === unit.toLowerCase());
}

/** Whether a name says that it is a length of time, and not in which unit. */
export function isDurationWithoutUnit(name: string): boolean {
  return unitOf(name) === undefined && durationNames.test(name);
}

const durationNames =
  /(?:^t|T)imeout$|(?:^d|D)elay$|(?:^i|I)nterval$|(?:^p|P)atience$|(?:^g|G)race$|(?:^d|D)uration$/;
