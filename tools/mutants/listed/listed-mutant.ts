import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Mutation } from "../mutation.ts";

/** A mistake that no operator makes, written down by hand. */
export interface ListedMutant {
  /** Directory below `packages` or `apps`. */
  readonly package: string;
  /** What goes wrong. */
  readonly name: string;
  /** Occurs exactly once in the package's `src`, in whichever file: files move, lines stay. */
  readonly find: string;
  /** Takes the place of `find`; empty removes it. */
  readonly replace: string;
}

/** Mutants of a package from rows of name, text and replacement. */
export function listOf(
  directory: string,
  rows: readonly (readonly [name: string, find: string, replace: string])[],
): readonly ListedMutant[] {
  return rows.map(([name, find, replace]) => ({ package: directory, name, find, replace }));
}

/** The mutation in its file. Throws when its text is not in the package, or not just once. */
export function locate(root: string, mutant: ListedMutant): Mutation {
  const { package: directory, name, find, replace } = mutant;
  const hits = sourcesOf(root, directory).flatMap(({ file, text }) => {
    const [before, ...rest] = text.split(find);
    return rest.map(() => ({ file, start: before?.length ?? 0 }));
  });
  const [hit] = hits;
  if (hit === undefined || hits.length > 1)
    throw new Error(
      `mutant "${name}": its text occurs ${String(hits.length)} times in ${directory}, not once`,
    );
  const title = `${hit.file} ${name}`;
  return { ...hit, end: hit.start + find.length, replacement: replace, operator: "listed", title };
}

/** Sources of a package, read once: a list names the same package many times. */
const sources = new Map<string, readonly { readonly file: string; readonly text: string }[]>();

function sourcesOf(
  root: string,
  directory: string,
): readonly { readonly file: string; readonly text: string }[] {
  const known = sources.get(join(root, directory));
  if (known !== undefined) return known;
  const files = globSync(`{packages,apps}/${directory}/src/**/*.ts`, { cwd: root });
  const read = files.map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
  sources.set(join(root, directory), read);
  return read;
}
