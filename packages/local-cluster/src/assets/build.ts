import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { LocalClusterError } from "../errors.ts";
import type { System } from "../system/system.ts";
import { BUILD_ENVIRONMENT, buildFlags } from "./build-flags.ts";
import { cacheFolderFull } from "./cache-folder-error.ts";
import type { Component } from "./component.ts";
import type { GoModule } from "./go-module.ts";
import type { Platform } from "./platform.ts";
import { runCommand } from "./run-command.ts";

/** What to build, and where to. */
export interface BuildRequest {
  readonly component: Component;
  readonly module: GoModule;
  readonly platform: Platform;
  /** Folder for the result and for Go's temporary files. */
  readonly workplace: string;
  readonly system: System;
  readonly signal: AbortSignal;
}

/** Builds a component and returns the path of the program. Throws `BuildFailed` with the end of what Go said. */
export async function build(request: BuildRequest): Promise<string> {
  const { component, module, platform, workplace, system, signal } = request;
  const output = join(workplace, component.name);
  const temporary = join(workplace, "go-tmp");
  await mkdir(temporary, { recursive: true });
  const args = ["build", ...buildFlags(module), "-o", output, component.goPackage];
  const env = {
    ...system.env,
    ...BUILD_ENVIRONMENT,
    GOOS: platform.os,
    GOARCH: platform.arch,
    GOTMPDIR: temporary,
  };
  const { code, stderr } = await runCommand({ command: "go", args, cwd: module.folder, env, signal });
  if (code === 0) return output;
  // Go has no exit codes of its own, so its words are all there is to tell a full disk by.
  if (/no space left on device|disk quota exceeded/i.test(stderr))
    throw cacheFolderFull(workplace, new Error(lastLines(stderr)));
  throw new LocalClusterError(
    "BuildFailed",
    `Building ${component.name} ${module.version} failed (go build, exit code ${code}):\n${lastLines(stderr)}\n`,
    "If Go could not fetch modules, check `go env GOPROXY`; else name a folder with the binaries in QM_KUBE_ASSETS.",
  );
}

const LINES_SHOWN = 15;

function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-LINES_SHOWN).join("\n");
}
