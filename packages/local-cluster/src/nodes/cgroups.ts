import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { codeOf, type System } from "../system/system.ts";

/**
 * Name of the cgroup below which everything runs that the nodes of one cluster start. It follows from the directory alone, so
 * that clean-up finds it; the hash tells two directories of the same name apart.
 */
export function clusterCgroup(directory: string): string {
  const path = realpathSync(directory);
  return `quartermaster-${basename(path)}-${createHash("sha256").update(path).digest("hex").slice(0, 8)}`;
}

/** Mount points of all cgroup hierarchies: one on a machine with cgroup v2 only, a dozen with v1. */
export function cgroupHierarchies(table: readonly Mount[] = readMountTable()): readonly string[] {
  return table
    .filter(({ fileSystem }) => fileSystem === "cgroup" || fileSystem === "cgroup2")
    .map(({ mountPoint }) => mountPoint);
}

/** Makes the cgroup in every hierarchy. Returns the files a process writes its pid into to join it. */
export function makeCgroup(path: string): readonly string[] {
  return cgroupHierarchies().map((hierarchy) => {
    mkdirSync(join(hierarchy, path), { recursive: true });
    fillCpuset(hierarchy, path);
    return join(hierarchy, path, "cgroup.procs");
  });
}

/** Ends every process below the cgroup and waits until none is left. What it had started meanwhile is ended as well. */
export async function emptyCgroup(path: string, system: System): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const directories = cgroupDirectories(path);
    if (directories.flatMap(membersOf).length === 0) return;
    for (const directory of directories) killIn(directory, path);
    await system.sleep(10);
  }
}

/** Removes the cgroup and everything below it from all hierarchies; it must be empty. */
export function removeCgroup(path: string): void {
  for (const directory of cgroupDirectories(path)) removeDirectory(directory);
}

/** Half a minute: a process in an uninterruptible wait cannot be ended sooner. */
const MAX_ROUNDS = 3000;

/** All directories of the cgroup and below, deepest first, of all hierarchies. */
function cgroupDirectories(path: string): readonly string[] {
  return cgroupHierarchies().flatMap((hierarchy) => directoriesBelow(join(hierarchy, path)));
}

function directoriesBelow(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return [
      ...entries
        .filter((entry) => entry.isDirectory())
        .flatMap(({ name }) => directoriesBelow(join(directory, name))),
      directory,
    ];
  } catch (error) {
    return absent(error, []);
  }
}

/** The kernel's own way ends the whole subtree in one step; the other is for cgroup v1, one by one. */
function killIn(directory: string, path: string): void {
  try {
    writeFileSync(join(directory, "cgroup.kill"), "1", { flag: "r+" });
  } catch (error) {
    absent(error, undefined);
    for (const pid of membersOf(directory)) killMember(pid, path);
  }
}

/** Checks again whether the pid is still a member: it may have ended, and its number been reused, since we read it. */
function killMember(pid: number, path: string): void {
  try {
    if (readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(`:/${path}`)) process.kill(pid, "SIGKILL");
  } catch (error) {
    absent(error, undefined);
  }
}

function membersOf(directory: string): readonly number[] {
  try {
    return readFileSync(join(directory, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
  } catch (error) {
    return absent(error, []);
  }
}

function removeDirectory(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    absent(error, undefined);
  }
}

/** cgroup v1 leaves the cpuset of a new group empty, and then no process may join: each level takes over its parent's. */
function fillCpuset(hierarchy: string, path: string): void {
  for (const level of levelsOf(path)) {
    const directory = join(hierarchy, level);
    for (const file of ["cpuset.cpus", "cpuset.mems"])
      copyCpuset(join(dirname(directory), file), join(directory, file));
  }
}

function copyCpuset(from: string, to: string): void {
  try {
    const own = readFileSync(to, "utf8").trim();
    const parents = readFileSync(from, "utf8").trim();
    if (own === "" && parents !== "") writeFileSync(to, parents);
  } catch (error) {
    absent(error, undefined);
  }
}

function levelsOf(path: string): readonly string[] {
  const names = path.split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

/** The value for "is not there (any more)"; anything else is passed on. */
function absent<Value>(error: unknown, value: Value): Value {
  if (["ENOENT", "ESRCH", "ENODEV"].includes(codeOf(error))) return value;
  throw error;
}

/** One line of a mount table. */
export interface Mount {
  readonly mountPoint: string;
  readonly fileSystem: string;
}

export function readMountTable(): readonly Mount[] {
  return parseMountTable(readFileSync("/proc/self/mountinfo", "utf8"));
}

/** Reads the text of /proc/PID/mountinfo. Fields before the " - " vary in number; blanks in paths are octal escapes. */
export function parseMountTable(text: string): readonly Mount[] {
  return text.split("\n").flatMap((line) => {
    const [location = "", source = ""] = line.split(" - ");
    const mountPoint = location.split(" ")[4];
    const fileSystem = source.split(" ")[0];
    return mountPoint === undefined || fileSystem === undefined
      ? []
      : [{ mountPoint: unescapePath(mountPoint), fileSystem }];
  });
}

/** Mount points at or below `directory`, last mounted first: the order in which they can be unmounted. */
export function mountsBelow(directory: string, table: readonly Mount[]): readonly string[] {
  return table
    .map(({ mountPoint }) => mountPoint)
    .filter((mountPoint) => mountPoint === directory || mountPoint.startsWith(`${directory}/`))
    .toReversed();
}

function unescapePath(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}
