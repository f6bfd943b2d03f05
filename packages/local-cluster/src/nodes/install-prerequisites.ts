import type { ProgressReport } from "../assets/progress.ts";
import { LocalClusterError } from "../errors.ts";
import type { System } from "../system/system.ts";
import type { MissingPrerequisite } from "./prerequisites.ts";
import { installCommand, packagesOf } from "./prerequisites.ts";
import type { ToolResult } from "./run-tool.ts";
import { tryTool } from "./run-tool.ts";

/** What is to be installed, and who is notified. */
export interface InstallRequest {
  readonly missing: readonly MissingPrerequisite[];
  readonly report: ProgressReport;
  readonly system: System;
}

/**
 * Installs with apt what packages can bring. Does nothing without root, without apt-get, or when no package is missing: the
 * caller looks again and tells the person what is left.
 */
export async function installPrerequisites({ missing, report, system }: InstallRequest): Promise<void> {
  const packages = packagesOf(missing);
  if (packages.length === 0 || process.getuid?.() !== 0) return;
  if ((await apt(["--version"], system)).code !== 0) return;
  report({ kind: "note", text: `installing ${packages.join(" ")} (apt-get)` });
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  if ((await apt(install, system)).code === 0) return;
  report({ kind: "note", text: "refreshing the list of packages (apt-get update)" });
  await apt(["update"], system);
  const { code, stderr } = await apt(install, system);
  if (code === 0) return;
  throw new LocalClusterError(
    "PrerequisiteMissing",
    `apt-get could not install ${packages.join(", ")}: ${stderr.trim().slice(-500)}.`,
    `Run: ${installCommand(packages)}`,
  );
}

async function apt(args: readonly string[], system: System): Promise<ToolResult> {
  return await tryTool(
    { command: "env", args: ["DEBIAN_FRONTEND=noninteractive", "apt-get", ...args], timeoutMs: 600_000 },
    system,
  );
}
