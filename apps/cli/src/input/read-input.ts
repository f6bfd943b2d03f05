import type { Dirent } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { flattenList, type PackDocument, readYaml } from "@quartermaster/install-plan/offline";
import type { KubeObject, Live } from "@quartermaster/runtime";
import { type ClusterObject, readDeclaration } from "@quartermaster/search/offline";

import type { CommandContext } from "../command.ts";
import { CliError, exitCode } from "../errors.ts";

/** Documents of all files, and everything that could not be read in them. */
export interface InputReading {
  readonly documents: readonly PackDocument[];
  readonly problems: readonly string[];
}

/** Reads files, directories (their .yaml, .yml and .json files, in order of their names) and `-` for standard input. */
export async function readInput(
  locations: readonly string[],
  readStandardInput: () => Promise<Uint8Array>,
): Promise<InputReading> {
  const readings: InputReading[] = [];
  for (const location of locations) {
    if (location === "-") readings.push(readDocuments("standard input", await readStandardInput()));
    else readings.push(...(await readPath(location)));
  }
  return {
    documents: readings.flatMap(({ documents }) => documents),
    problems: readings.flatMap(({ problems }) => problems),
  };
}

async function readPath(location: string): Promise<readonly InputReading[]> {
  const files = (await kindOfPath(location)) === "directory" ? await filesBelow(location) : [location];
  if (files.length === 0)
    throw new CliError(`${location}: no .yaml, .yml or .json files found`, exitCode.notFound);
  return await Promise.all(
    files.map(async (file) => readDocuments(file, await reading(file, async () => await readFile(file)))),
  );
}

async function kindOfPath(location: string): Promise<"file" | "directory"> {
  return (await reading(location, async () => await stat(location))).isDirectory() ? "directory" : "file";
}

/** What the system refuses to read is reported as the user's path, not as a fault of ours. */
async function reading<T>(location: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new CliError(`${location}: cannot be read; check the path (${codeOf(error)})`, exitCode.notFound);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}

async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await reading(
    directory,
    async () => await readdir(directory, { recursive: true, withFileTypes: true }),
  );
  const files = await Promise.all(entries.map(async (entry) => await manifestFile(entry)));
  return files.flat().toSorted();
}

/** Links to files are followed, links to directories are not: they may lead back to where we are. */
async function manifestFile(entry: Dirent): Promise<readonly string[]> {
  const path = join(entry.parentPath, entry.name);
  if (!/\.(?:ya?ml|json)$/i.test(entry.name) || entry.isDirectory()) return [];
  return entry.isSymbolicLink() && (await kindOfPath(path)) === "directory" ? [] : [path];
}

function readDocuments(file: string, bytes: Uint8Array): InputReading {
  const text = utf8Text(bytes);
  if (text === undefined)
    return { documents: [], problems: [`${file}: is not valid UTF-8; save it as UTF-8`] };
  const { documents, issues } = readYaml(text, { file });
  return {
    documents: documents.map(({ value, index }) => ({ value, source: `${file}, document ${index + 1}` })),
    problems: issues.map(({ message }) => message),
  };
}

/** Undefined when it is something else: replacing what cannot be read would install other text than the author wrote. */
function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Documents by what they are; Lists, as kubectl writes them, are taken apart. */
export interface OurDocuments {
  readonly plans: readonly PackDocument[];
  readonly manifests: readonly PackDocument[];
  /** Objects of other kinds that stand in the same files, e.g. the plan's namespace and account. */
  readonly others: readonly PackDocument[];
}

/** Sorts documents. What names no kind, or a kind of our group that there is not, counts as a plan: its check says what is wrong. */
export function ourDocuments(documents: readonly PackDocument[]): OurDocuments {
  const groups = Map.groupBy(documents.flatMap(itemsOf), ({ value }) => locationOf(value));
  return {
    plans: groups.get("plans") ?? [],
    manifests: groups.get("manifests") ?? [],
    others: groups.get("others") ?? [],
  };
}

function itemsOf(document: PackDocument): readonly PackDocument[] {
  const flattened = flattenList(document.value);
  if (flattened.kind === "refused") return [document];
  return flattened.items.map((value) => ({ ...document, value }));
}

function locationOf(value: unknown): keyof OurDocuments {
  const { apiVersion, kind } =
    typeof value === "object" && value !== null ? (value as Partial<KubeObject>) : {};
  if (typeof apiVersion !== "string" || typeof kind !== "string") return "plans";
  if (kind === "InstallPlan") return "plans";
  if (!apiVersion.startsWith("install.quartermaster.dev/")) return "others";
  return kind === "ResourceManifest" ? "manifests" : "plans";
}

/** The one search cluster in a file, with defaults filled in; other objects beside it are left alone. */
export async function searchClusterOfFile(
  file: string,
  { readStandardInput }: CommandContext,
): Promise<Live<ClusterObject>> {
  const { documents, problems } = await readInput([file], readStandardInput);
  if (problems.length > 0) throw new CliError(problems.join("\n"));
  const { others } = ourDocuments(documents);
  const read = others.map(({ value, source }) => ({ source, ...readDeclaration(value) }));
  const malformed = read.flatMap((each) =>
    each.kind === "malformed" ? each.problems.map((problem) => `${each.source}: ${problem}`) : [],
  );
  if (malformed.length > 0) throw new CliError(malformed.join("\n"));
  const found = read.flatMap((each) => (each.kind === "read" ? [each.object] : []));
  const [first, ...more] = found;
  if (first === undefined)
    throw new CliError(`${file}: no OpenSearchCluster and no ElasticsearchCluster found`, exitCode.notFound);
  if (more.length === 0) return first;
  const names = found.map(({ metadata }) => metadata.name).join(", ");
  throw new CliError(
    `${file}: there are several search clusters in it: ${names}; give a file with one of them`,
  );
}
