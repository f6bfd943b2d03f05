import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { type PackDocument, readYaml } from "@quartermaster/install-plan/pack";

import { CliError } from "../errors.ts";
import { exitCode } from "../exit-code.ts";

/** Documents of all files, and everything that could not be read in them. */
export interface InputReading {
  readonly documents: readonly PackDocument[];
  readonly faults: readonly string[];
}

/** Reads files, folders (their .yaml, .yml and .json files, in order of their names) and `-` for standard input. */
export async function readInput(
  places: readonly string[],
  readStandardInput: () => Promise<string>,
): Promise<InputReading> {
  const readings: InputReading[] = [];
  for (const place of places) {
    if (place === "-") readings.push(readDocuments("standard input", await readStandardInput()));
    else readings.push(...(await readPlace(place)));
  }
  return {
    documents: readings.flatMap(({ documents }) => documents),
    faults: readings.flatMap(({ faults }) => faults),
  };
}

async function readPlace(place: string): Promise<readonly InputReading[]> {
  const files = (await kindOfPlace(place)) === "folder" ? await filesBelow(place) : [place];
  if (files.length === 0)
    throw new CliError(`${place}: there is no .yaml, .yml or .json file in it`, exitCode.notFound);
  return await Promise.all(files.map(async (file) => readDocuments(file, await readFile(file, "utf8"))));
}

async function kindOfPlace(place: string): Promise<"file" | "folder"> {
  try {
    return (await stat(place)).isDirectory() ? "folder" : "file";
  } catch (error) {
    throw new CliError(`${place}: cannot be read; is the path right? (${codeOf(error)})`, exitCode.notFound);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => /\.(?:ya?ml|json)$/i.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

function readDocuments(file: string, text: string): InputReading {
  const { documents, issues } = readYaml(text, { file });
  return {
    documents: documents.map(({ value, index }) => ({ value, source: `${file}, document ${index + 1}` })),
    faults: issues.map(({ message }) => message),
  };
}
