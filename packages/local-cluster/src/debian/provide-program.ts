import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";

import type { ProgressReport } from "../assets/progress.ts";
import { LocalClusterError } from "../errors.ts";
import { installCommand, installPrerequisites } from "../nodes/prerequisites.ts";
import { runTool, tryTool } from "../nodes/run-tool.ts";
import { realSystem, type System } from "../system/system.ts";
import type { ProgramImageRequest } from "./provide-program-image.ts";

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
  const request = { command: "sh", args: ["-c", 'command -v "$1"', "sh", program] };
  const { code, stdout } = await tryTool(request, system);
  return code === 0 ? stdout.trim() : undefined;
}

/** Programs whose official images cannot be had everywhere, as Debian packages them: what their images are made of, without names. */
export const debianPrograms = {
  prometheus: { packageName: "prometheus", program: "usr/bin/prometheus", user: "65534" },
  alertmanager: {
    packageName: "prometheus-alertmanager",
    program: "usr/bin/prometheus-alertmanager",
    // Templates of its messages, without which it does not start.
    directories: ["usr/share/prometheus/alertmanager"],
    user: "65534",
  },
} as const satisfies Readonly<Record<string, Omit<ProgramImageRequest, "name">>>;

/** Which package, and where to. */
export interface UnpackRequest {
  readonly packageName: string;
  /** Empty directory of the caller's, which is used up. */
  readonly workplace: string;
  readonly system: System;
}

/** A package whose files are on this machine. */
export interface UnpackedPackage {
  /** Directory that is the root of its files. */
  readonly root: string;
  /** Debian's version, e.g. `2.42.0+ds-5+b5`. */
  readonly version: string;
}

/** Downloads a package of Debian's and unpacks it beside the system: nothing is installed, and no script of it runs. Needs no root. */
export async function unpackPackage({
  packageName,
  workplace,
  system,
}: UnpackRequest): Promise<UnpackedPackage> {
  const download = join(workplace, "download");
  await mkdir(download, { recursive: true });
  await downloadInto(download, packageName, system);
  const archive = (await readdir(download)).find((name) => name.endsWith(".deb"));
  if (archive === undefined) throw missing(packageName, "apt-get left no archive");
  const file = join(download, archive);
  const version = await runTool({ command: "dpkg-deb", args: ["--field", file, "Version"] }, system);
  const root = join(workplace, "files");
  await runTool({ command: "dpkg-deb", args: ["--extract", file, root] }, system);
  return { root, version: version.trim() };
}

/** The first try may fail because the list of packages is old or was never read. */
async function downloadInto(directory: string, packageName: string, system: System): Promise<void> {
  const inDirectory = ["-c", 'cd "$1" && exec apt-get download "$2"', "sh", directory, packageName];
  const request = { command: "sh", args: inDirectory, timeoutMs: 300_000 };
  if ((await tryTool(request, system)).code === 0) return;
  await tryTool({ command: "apt-get", args: ["update"], timeoutMs: 300_000 }, system);
  const { code, stderr } = await tryTool(request, system);
  if (code !== 0) throw missing(packageName, stderr.trim().slice(-500));
}

function missing(packageName: string, why: string): LocalClusterError {
  return new LocalClusterError(
    "PrerequisiteMissing",
    `Debian's package ${packageName} cannot be had: ${why}.`,
    `Check the package sources of this machine; this has to work: ${installCommand(["--download-only", packageName])}`,
  );
}
