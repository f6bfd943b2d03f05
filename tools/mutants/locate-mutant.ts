import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Mutant } from "./mutant.ts";

/** A mutant with its files, relative to the root. */
export interface LocatedMutant extends Mutant {
  readonly file: string;
  readonly testFiles: readonly string[];
}

/** The mutant with its files, or what is wrong with its entry in the list. */
export type Located =
  | { readonly kind: "found"; readonly mutant: LocatedMutant }
  | { readonly kind: "faulty"; readonly message: string };

/** Looks for the line that a mutant changes and for the test files that should notice. */
export function locateMutant(root: string, mutant: Mutant): Located {
  const files = globSync(`packages/${mutant.package}/src/**/*.ts`, { cwd: root }).toSorted();
  const hits = files.flatMap((file) => {
    const count = countOf(readFileSync(join(root, file), "utf8"), mutant.find);
    return Array.from({ length: count }, () => file);
  });
  const [file] = hits;
  if (file === undefined || hits.length > 1)
    return { kind: "faulty", message: `its line occurs ${hits.length} times, not once` };
  const tests = mutant.tests.map((stem) => filesCalled(root, mutant, stem));
  const missing = mutant.tests.filter((_stem, index) => tests[index]?.length === 0);
  if (mutant.tests.length === 0 || missing.length > 0)
    return { kind: "faulty", message: `no ${mutant.level} test is called ${missing.join(", ")}` };
  return { kind: "found", mutant: { ...mutant, file, testFiles: [...new Set(tests.flat())].toSorted() } };
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

function filesCalled(root: string, { package: folder, level }: Mutant, stem: string): readonly string[] {
  return globSync(`packages/${folder}/test/${level}/**/${stem}*.test.ts`, { cwd: root });
}
