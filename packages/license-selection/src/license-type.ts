import { type LicenseType, licenseTypes } from "@quartermaster/api/licensing";

/** Values of the label `k8s.elastic.co/desired-license`. */
export type DesiredLicense = LicenseType | "basic";

/** Names of older servers. */
const olderNames: ReadonlyMap<string, LicenseType> = new Map<string, LicenseType>([
  ["dev", "trial"],
  ["development", "trial"],
  ["none", "trial"],
  ["silver", "gold"],
  ["internal", "platinum"],
  ["cloud_internal", "platinum"],
]);

const ranks: ReadonlyMap<string, number> = new Map<string, number>([
  ["basic", 0],
  ...licenseTypes.map((type, at): [string, number] => [type, at + 1]),
  ...[...olderNames].map(([name, type]): [string, number] => [name, licenseTypes.indexOf(type) + 1]),
]);

/**
 * Place of a type in the order enterprise, platinum, gold, standard, trial, basic; -1 for words that we do not know. A trial ranks
 * low although everything works under it: it ends, and what was paid for goes first.
 */
export function licenseTypeRank(type: string): number {
  return ranks.get(type) ?? -1;
}

/** Reads a word from outside; undefined for any other. */
export function readDesiredLicense(text: string): DesiredLicense | undefined {
  return [...licenseTypes, "basic" as const].find((type) => type === text);
}
