import { type ListedMutant, listOf } from "./listed-mutant.ts";

/** Of licensing. */
export const licensingMutants: readonly ListedMutant[] = listOf("licensing", [
  [
    "a faulty EnterpriseLicense counts as gone",
    "return from === undefined || !from.nested.some(",
    "return from?.fault !== undefined || from === undefined || !from.nested.some(",
  ],
]);
