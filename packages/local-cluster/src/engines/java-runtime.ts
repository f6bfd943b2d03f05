import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { openWorkplace } from "../assets/cache.ts";
import { runTool } from "../nodes/run-tool.ts";
import type { System } from "../system/system.ts";

/** What a runtime is made from and where to. */
export interface RuntimeRequest {
  readonly jdk: string;
  /** Folder of the cache. */
  readonly folder: string;
  readonly system: System;
}

/** Makes a Java runtime of all modules, without what only developers need; half a minute on two cores, once. */
export async function provideJavaRuntime({ jdk, folder, system }: RuntimeRequest): Promise<string> {
  const finished = join(folder, "java-17");
  if (existsSync(finished)) return finished;
  await mkdir(folder, { recursive: true });
  const workplace = await openWorkplace(folder, system);
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
