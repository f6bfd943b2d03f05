import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** Reads a file of the repository; undefined when there is none. */
export type ReadText = (file: string) => string | undefined;

/** Names that the entry files of a package export from `file`, a path below the repository. Programs have no public names. */
export function publicNames(file: string, readText: ReadText): ReadonlySet<string> {
  const directory = /^(?:packages|apps)\/[^/]+(?=\/src\/)/.exec(file)?.[0];
  if (directory === undefined) return new Set();
  return new Set(entriesOf(directory, readText).flatMap((entry) => namesFrom({ entry, file, readText })));
}

function entriesOf(directory: string, readText: ReadText): readonly string[] {
  const manifest: unknown = JSON.parse(readText(`${directory}/package.json`) ?? "{}");
  if (typeof manifest !== "object" || manifest === null || !("exports" in manifest)) return [];
  const targets: readonly unknown[] = Object.values(manifest.exports ?? {});
  return targets.filter((path) => typeof path === "string").map((path) => normalize(join(directory, path)));
}

interface NamesQuery {
  readonly entry: string;
  readonly file: string;
  readonly readText: ReadText;
}

/** What an entry file declares itself is public; so is what it takes from the file by `export { … } from`. */
function namesFrom({ entry, file, readText }: NamesQuery): readonly string[] {
  const text = readText(entry) ?? "";
  if (entry === file) return matches(text, /^export [\w ]*?(?:function|const|class|interface|type) (\w+)/gm);
  return [...text.matchAll(/export (?:type )?\{([^}]*)\} from "([^"]+)"/g)]
    .filter(([, , path = ""]) => normalize(join(dirname(entry), path)) === file)
    .flatMap(([, list = ""]) => matches(list, /(?:^|,)\s*(?:type )?(\w+)/g));
}

function matches(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, name = ""]) => name);
}

const texts = new Map<string, string | undefined>();

/** Reads below the current directory, each file once. */
export function readOnce(file: string): string | undefined {
  if (!texts.has(file)) texts.set(file, readIfThere(file));
  return texts.get(file);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
