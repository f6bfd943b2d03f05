import type { ProgressReport } from "../assets/progress.ts";
import { LocalClusterError } from "../errors.ts";
import { installPrerequisites } from "../nodes/install-prerequisites.ts";
import { installCommand } from "../nodes/prerequisites.ts";
import { tryTool } from "../nodes/run-tool.ts";
import { realSystem, type System } from "../system/system.ts";

/** A program of this machine. */
export interface ProgramRequest {
  /** As it is called. */
  readonly program: string;
  /** Debian's package of it (default: of the same name). */
  readonly packageName?: string;
  readonly report?: ProgressReport;
}

/** Path of a program; installed with apt where it is missing and we are root. Throws a LocalClusterError where it cannot be had. */
export async function provideProgram(
  { program, packageName = program, report = () => undefined }: ProgramRequest,
  system: System = realSystem,
): Promise<string> {
  const found = await pathOf(program, system);
  if (found !== undefined) return found;
  const remedy = installCommand([packageName]);
  await installPrerequisites({ missing: [{ what: program, packageName, remedy }], report, system });
  const installed = await pathOf(program, system);
  if (installed !== undefined) return installed;
  throw new LocalClusterError("PrerequisiteMissing", `The program ${program} is missing.`, `Run: ${remedy}`);
}

async function pathOf(program: string, system: System): Promise<string | undefined> {
  const ask = { command: "sh", args: ["-c", 'command -v "$1"', "sh", program] };
  const { code, stdout } = await tryTool(ask, system);
  return code === 0 ? stdout.trim() : undefined;
}
