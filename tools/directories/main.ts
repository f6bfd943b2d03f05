/** Checks that no directories of a package import each other in a circle. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { packages } from "../lint/packages.ts";
import { directoryCycles, type SourceFile } from "./directory-cycles.ts";

const repository = join(import.meta.dirname, "../..");

const found = packages.flatMap(({ directory }) =>
  directoryCycles(readSource(directory)).map((cycle) => `${directory}/src: ${cycle}`),
);
for (const line of found) console.log(line);
process.exitCode = found.length === 0 ? 0 : 1;

function readSource(directory: string): readonly SourceFile[] {
  const source = join(repository, directory, "src");
  if (!existsSync(source)) return [];
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => {
      const text = readFileSync(join(source, path), "utf8");
      return { path, imports: [...text.matchAll(/ from "(?<specifier>\.[^"]+)"/g)].map(specifierOf) };
    });
}

function specifierOf({ groups }: RegExpExecArray): string {
  return groups?.["specifier"] ?? "";
}
