import { posix } from "node:path";

/** A file of a package's `src`, by its path below it, with the relative specifiers that it imports or re-exports. */
export interface SourceFile {
  readonly path: string;
  readonly imports: readonly string[];
}

/** One import from one directory into another. */
interface Edge {
  readonly from: string;
  readonly to: string;
  readonly example: string;
}

/**
 * Directories of a package that import each other in a circle, one sentence with an example for each pair that is part of one. Types count too: a
 * reader follows them as well. Files directly in `src` compose the directories and hold the types that all share, so they count as none.
 */
export function directoryCycles(files: readonly SourceFile[]): readonly string[] {
  const pairs = new Map(files.flatMap(edgesOf).map((edge) => [`${edge.from} ${edge.to}`, edge]));
  const edges = [...pairs.values()];
  const reachable = (start: string): ReadonlySet<string> => {
    const seen = new Set<string>();
    const open = [start];
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const { from, to } of edges)
        if (from === at && !seen.has(to)) {
          seen.add(to);
          open.push(to);
        }
    return seen;
  };
  return edges
    .filter(({ from, to }) => reachable(to).has(from))
    .map(({ from, to, example }) => `${from}/ and ${to}/ import each other in a circle: ${example}`)
    .toSorted();
}

function edgesOf({ path, imports }: SourceFile): readonly Edge[] {
  const from = directoryOf(path);
  if (from === undefined) return [];
  return imports.flatMap((specifier) => {
    const target = posix.join(posix.dirname(path), specifier);
    const to = directoryOf(target);
    return to === undefined || to === from ? [] : [{ from, to, example: `${path} imports ${target}` }];
  });
}

/** Undefined for files directly in `src`. */
function directoryOf(path: string): string | undefined {
  const [directory, ...rest] = path.split("/");
  return rest.length === 0 ? undefined : directory;
}
