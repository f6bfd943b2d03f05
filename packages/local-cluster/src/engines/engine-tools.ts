import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { openWorkplace } from "../assets/cache.ts";
import type { ProgressReport } from "../assets/progress.ts";
import { LocalClusterError } from "../errors.ts";
import { findStaticBusybox } from "../images/busybox-image.ts";
import {
  installCommand,
  installPrerequisites,
  type MissingPrerequisite,
  packagesOf,
} from "../nodes/prerequisites.ts";
import { runTool, tryTool } from "../nodes/run-tool.ts";
import { codeOf, type System } from "../system/system.ts";

/** Tools that images of engines are made with. */
export interface EngineTools {
  /** Directory of a JDK 17. */
  readonly jdk: string;
  /** A busybox that needs no library. */
  readonly busybox: string;
}

/** Finds the tools, after installing those that are missing where that is possible. */
export async function findEngineTools(report: ProgressReport, system: System): Promise<EngineTools> {
  const missing = await missingTools(system);
  if (missing.length > 0) await installPrerequisites({ missing, report, system });
  const still = missing.length > 0 ? await missingTools(system) : [];
  const [jdk, busybox] = [findJdk(), findStaticBusybox()];
  if (still.length === 0 && jdk !== undefined && busybox !== undefined) return { jdk, busybox };
  throw new LocalClusterError(
    "PrerequisiteMissing",
    `Images of engines need what this machine lacks: ${still.map(({ what }) => what).join(", ")}.`,
    `Run: ${installCommand(packagesOf(still))}`,
  );
}

/** Programs, and Debian's packages of them. */
const ENGINE_TOOLS: Readonly<Record<string, string>> = {
  bash: "bash",
  cc: "gcc",
  ldd: "libc-bin",
  mvn: "maven",
  unzip: "unzip",
};

async function missingTools(system: System): Promise<readonly MissingPrerequisite[]> {
  const missing: MissingPrerequisite[] = [];
  for (const [tool, packageName] of Object.entries(ENGINE_TOOLS)) {
    const { code } = await tryTool({ command: "sh", args: ["-c", 'command -v "$1"', "sh", tool] }, system);
    if (code !== 0) missing.push(packaged(tool, packageName));
  }
  if (!existsSync("/usr/include/stdio.h")) missing.push(packaged("headers of the C library", "libc6-dev"));
  if (findJdk() === undefined) missing.push(packaged("a JDK 17", "openjdk-17-jdk-headless"));
  if (findStaticBusybox() === undefined) missing.push(packaged("a static busybox", "busybox-static"));
  return missing;
}

function packaged(what: string, packageName: string): MissingPrerequisite {
  return { what, packageName, remedy: installCommand([packageName]) };
}

/** A JDK 17 that can make runtimes: newer ones run these engines' security manager no more. */
function findJdk(): string | undefined {
  return listDirectory("/usr/lib/jvm")
    .map((name) => join("/usr/lib/jvm", name))
    .find(
      (directory) =>
        existsSync(join(directory, "bin/jlink")) &&
        existsSync(join(directory, "jmods")) &&
        isJava17(directory),
    );
}

function isJava17(directory: string): boolean {
  const release = join(directory, "release");
  return existsSync(release) && /^JAVA_VERSION="17[."]/m.test(readFileSync(release, "utf8"));
}

function listDirectory(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return [];
  }
}

export interface RuntimeRequest {
  readonly jdk: string;
  /** Directory of the cache. */
  readonly directory: string;
  readonly system: System;
}

/** Makes a Java runtime of all modules, without what only developers need; half a minute on two cores, once. */
export async function provideJavaRuntime({ jdk, directory, system }: RuntimeRequest): Promise<string> {
  const finished = join(directory, "java-17");
  if (existsSync(finished)) return finished;
  await mkdir(directory, { recursive: true });
  const workplace = await openWorkplace(directory, system);
  try {
    const draft = join(workplace, "java-17");
    const args = ["--module-path", join(jdk, "jmods"), ...JLINK_OPTIONS, "--output", draft];
    await runTool({ command: join(jdk, "bin", "jlink"), args, timeoutMs: 600_000 }, system);
    await rename(draft, finished);
  } finally {
    await rm(workplace, { recursive: true, force: true, maxRetries: 3 });
  }
  return finished;
}

/** The archive of classes makes each of the many small Java programs that an engine starts with faster. */
const JLINK_OPTIONS = [
  "--add-modules",
  "ALL-MODULE-PATH",
  "--strip-java-debug-attributes",
  "--no-man-pages",
  "--no-header-files",
  "--generate-cds-archive",
];
