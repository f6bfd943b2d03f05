import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { parseCaseList, type CaseList } from "./case-list.ts";

/** The case lists of all acceptance files in the folder, in the order of their names. */
export function readCaseLists(folder: string): readonly CaseList[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md");
  return names.toSorted().map((name) => {
    return parseCaseList(basename(name, ".md"), readFileSync(join(folder, name), "utf8"));
  });
}
