import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { LocalClusterError } from "../errors.ts";
import type { System } from "../system/system.ts";
import { BUILD_ENVIRONMENT, buildFlags, COMPILE_ENVIRONMENT, COMPILE_FLAGS } from "./build-flags.ts";
import { cacheFolderFull } from "./cache-folder-error.ts";
import type { Component, ComponentName } from "./component.ts";
import type { GoModule } from "./go-module.ts";
import type { Platform } from "./platform.ts";
import { runCommand } from "./run-command.ts";

/** What to build, and where to. */
export interface BuildRequest {
  /** Of this module. Several are built by one call of Go: while one is linked, packages of the next are compiled. */
  readonly components: readonly Component[];
  readonly module: GoModule;
  readonly platform: Platform;
  /** Folder for the result and for Go's temporary files. */
  readonly workplace: string;
  readonly system: System;
  readonly signal: AbortSignal;
}

/** Builds components and returns the paths of the programs by name. Throws `BuildFailed` with the end of what Go said. */
export async function build(request: BuildRequest): Promise<ReadonlyMap<ComponentName, string>> {
  const { components, module, platform, workplace, system, signal } = request;
  const names = components.map(({ name }) => name);
  const temporary = join(workplace, "go-tmp");
  await mkdir(temporary, { recursive: true });
  const packages = components.map(({ goPackage }) => goPackage);
  const args = [
    "build",
    ...buildFlags(module),
    ...COMPILE_FLAGS,
    "-o",
    outputFor(names, workplace),
    ...packages,
  ];
  const env = {
    ...system.env,
    ...BUILD_ENVIRONMENT,
    ...COMPILE_ENVIRONMENT,
    GOOS: platform.os,
    GOARCH: platform.arch,
    GOTMPDIR: temporary,
  };
  const { code, stderr } = await runCommand({ command: "go", args, cwd: module.folder, env, signal });
  if (code === 0) return new Map(names.map((name) => [name, join(workplace, name)]));
  // Go has no exit codes of its own, so its words are all there is to tell a full disk by.
  if (/no space left on device|disk quota exceeded/i.test(stderr))
    throw cacheFolderFull(workplace, new Error(lastLines(stderr)));
  throw new LocalClusterError(
    "BuildFailed",
    `Building ${names.join(", ")} ${module.version} failed (go build, exit code ${code}):\n${lastLines(stderr)}\n`,
    "If Go could not fetch modules, check `go env GOPROXY`; else name a folder with the binaries in QM_KUBE_ASSETS.",
  );
}

/** A folder for several: Go names each after the last part of its package then, as Kubernetes' are. */
function outputFor(names: readonly ComponentName[], workplace: string): string {
  const [only, ...others] = names;
  return only !== undefined && others.length === 0 ? join(workplace, only) : `${workplace}/`;
}

const LINES_SHOWN = 15;

function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-LINES_SHOWN).join("\n");
}
