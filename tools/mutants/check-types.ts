import { spawnSync } from "node:child_process";
import { join } from "node:path";

import type { LocatedMutant } from "./locate-mutant.ts";
import type { MutantTree } from "./mutant-tree.ts";

/**
 * Type errors that mutants bring in; none when each of them compiles. All that touch different lines are checked together: a
 * check of each on its own would take longer than its tests.
 */
export function checkTypes(
  tree: MutantTree,
  mutants: readonly LocatedMutant[],
  source: string,
): readonly string[] {
  const applied = mutants.filter((mutant) => tree.apply(mutant));
  const errors = applied.length === 0 ? [] : typeErrors(tree.root, applied);
  for (const { file } of applied) tree.restore(source, file);
  const rest = mutants.filter((mutant) => !applied.includes(mutant));
  return rest.length === 0 ? errors : [...errors, ...checkTypes(tree, rest, source)];
}

function typeErrors(root: string, mutants: readonly LocatedMutant[]): readonly string[] {
  const packages = [...new Set(mutants.map(({ file }) => file.split("/src/")[0] ?? ""))];
  const { stdout } = spawnSync(
    join(root, "node_modules/.bin/tsc"),
    ["-b", "--pretty", "false", ...packages],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  return stdout.split("\n").filter((line) => /\berror TS\d+/.test(line));
}
