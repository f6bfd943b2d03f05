import { basename } from "node:path";

/** A source file with the names that it exports. */
export interface ExportingFile {
  /** Relative to the repository, with forward slashes. */
  readonly file: string;
  readonly exports: readonly string[];
}

/**
 * One sentence when a search for a name of the file does not find the file: none of its exports has all the words of the
 * file's name. Plurals count as singulars. Files without exports are programs; `index.ts`, `errors.ts`, `vocabulary.ts` and the files in `kinds` are lists.
 */
export function findOwnNameIssue({ file, exports }: ExportingFile): string | undefined {
  const stem = basename(file).replace(/\..*$/, "");
  if (exports.length === 0 || lists.has(stem) || /\/kinds\/[^/]*$/.test(file)) return undefined;
  const wanted = stem.split("-").map(singular);
  const isNamed = exports.some((name) => {
    const words = new Set(wordsOf(name));
    return wanted.every((word) => words.has(word));
  });
  return isNamed ? undefined : `no export has the name of the file: ${stem} exports ${exports.join(", ")}`;
}

const lists: ReadonlySet<string> = new Set(["index", "main", "errors", "vocabulary"]);

/** `readYAMLText` has the words read, yaml and text. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[ _]+/)
    .map((word) => singular(word.toLowerCase()));
}

function singular(word: string): string {
  return word.length > 3 ? word.replace(/ies$/, "y").replace(/s$/, "") : word;
}
