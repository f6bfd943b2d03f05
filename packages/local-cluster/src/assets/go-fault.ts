import { dirname } from "node:path";

import { compareDottedVersions } from "@quartermaster/runtime/versions";

import type { System } from "../system/system.ts";
import { BUILD_ENVIRONMENT } from "./build-flags.ts";
import type { GoModule } from "./go-module.ts";
import { runCommand } from "./run-command.ts";

/** Why Go cannot build this module here; undefined when it can. */
export async function goFault(
  module: GoModule,
  system: System,
  signal: AbortSignal,
): Promise<string | undefined> {
  // Asked inside the module: a Go that fetches newer toolchains by itself (GOTOOLCHAIN=auto) then answers as the newer one.
  const inside = await askVersion(module.folder, system, signal);
  if (inside === "not found") return "Go is not installed (no `go` on PATH)";
  const found =
    inside ?? (await askVersion(dirname(module.folder), system, signal)) ?? "of an unknown version";
  if (inside !== undefined && compareDottedVersions(inside, module.goVersion) >= 0) return undefined;
  return `Go ${found.replace(/^go/, "")} is too old, ${module.goVersion} is needed`;
}

const NOT_RUNNABLE: readonly number[] = [126, 127];

async function askVersion(cwd: string, system: System, signal: AbortSignal): Promise<string | undefined> {
  const env = { ...system.env, ...BUILD_ENVIRONMENT };
  const { code, stdout } = await runCommand({ command: "go", args: ["env", "GOVERSION"], cwd, env, signal });
  if (NOT_RUNNABLE.includes(code)) return "not found";
  return code === 0 ? stdout.trim() : undefined;
}
