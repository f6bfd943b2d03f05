import { spawnSync } from "node:child_process";
import { join } from "node:path";

import type { MutantTree } from "./mutant-tree.ts";
import type { Mutation } from "./mutation.ts";

/**
 * Those of the mutations that compile, in their order: what the type checker refuses needs no test. One of each file is checked
 * together with those of all other files: a check of each would take longer than its tests.
 */
export function compilingMutations(tree: MutantTree, mutations: readonly Mutation[]): readonly Mutation[] {
  const byFile = [...Map.groupBy(mutations, ({ file }) => file).values()];
  const rounds = Math.max(0, ...byFile.map(({ length }) => length));
  const compiling = new Set<Mutation>();
  for (const at of Array.from({ length: rounds }).keys()) {
    const together = byFile.flatMap((group) => group[at] ?? []);
    for (const mutation of together) tree.apply(mutation);
    const invalid = filesWithErrors(tree.root);
    for (const mutation of together) {
      tree.restore(mutation.file);
      if (!invalid.has(mutation.file)) compiling.add(mutation);
    }
  }
  return mutations.filter((mutation) => compiling.has(mutation));
}

function filesWithErrors(root: string): ReadonlySet<string> {
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-b", "--pretty", "false"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 2 ** 20,
  });
  return new Set(
    stdout
      .split("\n")
      .flatMap((line) => /^(?<file>[^(\s]+)\(\d+,\d+\): error/.exec(line)?.groups?.["file"] ?? []),
  );
}
