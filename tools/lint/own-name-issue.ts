import { basename } from "node:path";

/** A source file with the names that it exports. */
export interface ExportingFile {
  /** Relative to the repository, with forward slashes. */
  readonly file: string;
  readonly exports: readonly string[];
}

/**
 * One sentence when nobody who looks for a name of the file would find the file: none of its exports has all the words of the
 * file's name. Plurals count as singulars. Files without exports are programs; `index.ts`, `errors.ts`, `vocabulary.ts` and the files in `kinds` are lists.
 */
export function findOwnNameIssue({ file, exports }: ExportingFile): string | undefined {
  const stem = basename(file).replace(/\..*$/, "");
  if (exports.length === 0 || lists.has(stem) || /\/kinds\/[^/]*$/.test(file)) return undefined;
  const wanted = stem.split("-").map(singular);
  const isNamed = exports.some((name) => {
    const args = new Set(reasonText(name));
    return wanted.every((text) => args.has(text));
  });
  return isNamed ? undefined : `no export has the name of the file: ${stem} exports ${exports.join(", ")}`;
}

const lists: ReadonlySet<string> = new Set(["index", "main", "errors", "vocabulary"]);

/** `readYAMLText` has the words read, yaml and text. */
function reasonText(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[ _]+/)
    .map((text) => singular(text.toLowerCase()));
}

function singular(text: string): string {
  return text.length > 3 ? text.replace(/ies$/, "y").replace(/s$/, "") : text;
}
