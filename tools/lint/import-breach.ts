import { posix } from "node:path";

import { rooms, testsMayImport, type Room } from "./packages.ts";

const scope = "@quartermaster/";

/** An import as written: `file` relative to the repository with forward slashes, `specifier` from the source text. */
export interface Import {
  readonly file: string;
  readonly specifier: string;
}

/** One sentence on how the import breaks the dependency rule; undefined when it keeps it. */
export function findImportBreach({ file, specifier }: Import): string | undefined {
  if (isRootFile(file)) return findRootFileBreach({ file, specifier });
  const room = roomOf(file);
  if (room === undefined) return `${file} is in no known room: add its package to tools/lint/packages.ts`;
  if (specifier.startsWith(scope)) return findPackageBreach(room, { file, specifier });
  if (specifier.startsWith(".")) return findRelativeBreach(room, { file, specifier });
  if (specifier.startsWith("/") || specifier.startsWith("file:")) {
    return `"${specifier}" is an absolute path: import a package by its name`;
  }
  return undefined;
}

/** Whether the file is a test or serves tests: anything below `<room>/test`. */
export function isTestFile(file: string): boolean {
  const room = roomOf(file);
  return room !== undefined && file.startsWith(`${room.folder}/test/`);
}

function isRootFile(file: string): boolean {
  return !file.includes("/");
}

function roomOf(file: string): Room | undefined {
  return rooms.find((room) => file.startsWith(`${room.folder}/`));
}

function packageOf(room: Room): string {
  return posix.basename(room.folder);
}

/** Files beside package.json configure tools; they belong to no room and import none. */
function findRootFileBreach({ specifier }: Import): string | undefined {
  const isOurs = specifier.startsWith(scope) || specifier.startsWith(".");
  return isOurs
    ? `a file at the root of the repository imports nothing of ours, but this is "${specifier}"`
    : undefined;
}

function findPackageBreach(room: Room, { file, specifier }: Import): string | undefined {
  const [target = "", ...deeper] = specifier.slice(scope.length).split("/");
  const owner = rooms.find((known) => packageOf(known) === target);
  if (owner === undefined) {
    return `"${specifier}" names no known package: add it to tools/lint/packages.ts`;
  }
  if (deeper.length > 0 && !(owner.entries ?? []).includes(deeper.join("/"))) {
    return `"${specifier}" reaches into a package: import "${scope}${target}" and export what you need there`;
  }
  const allowed = [packageOf(room), ...room.mayImport, ...(isTestFile(file) ? testsMayImport : [])];
  if (allowed.includes(target)) return undefined;
  if (target === "testkit") return `only tests and benchmarks import testkit, and ${file} is neither`;
  return `${room.folder} may not import ${target}: the table in tools/lint/packages.ts says which way dependencies point`;
}

function findRelativeBreach(room: Room, { file, specifier }: Import): string | undefined {
  const target = posix.join(posix.dirname(file), specifier);
  if (!target.startsWith(`${room.folder}/`)) {
    return `"${specifier}" leaves ${room.folder}: import another package by its name`;
  }
  if (isTestFile(target) && !isTestFile(file)) return `"${specifier}" is a test file: only tests import it`;
  return undefined;
}
