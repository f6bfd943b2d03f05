import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";

import { LocalClusterError } from "../errors.ts";
import { installCommand } from "../nodes/prerequisites.ts";
import { runTool, tryTool } from "../nodes/run-tool.ts";
import type { System } from "../system/system.ts";

/** Which package, and where to. */
export interface UnpackRequest {
  readonly packageName: string;
  /** Empty folder of the caller's, which is used up. */
  readonly workplace: string;
  readonly system: System;
}

/** A package whose files are on this machine. */
export interface UnpackedPackage {
  /** Folder that is the root of its files. */
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
async function downloadInto(folder: string, packageName: string, system: System): Promise<void> {
  const inFolder = ["-c", 'cd "$1" && exec apt-get download "$2"', "sh", folder, packageName];
  const ask = { command: "sh", args: inFolder, timeoutMs: 300_000 };
  if ((await tryTool(ask, system)).code === 0) return;
  await tryTool({ command: "apt-get", args: ["update"], timeoutMs: 300_000 }, system);
  const { code, stderr } = await tryTool(ask, system);
  if (code !== 0) throw missing(packageName, stderr.trim().slice(-500));
}

function missing(packageName: string, why: string): LocalClusterError {
  return new LocalClusterError(
    "PrerequisiteMissing",
    `Debian's package ${packageName} cannot be had: ${why}.`,
    `Check the package sources of this machine; this has to work: ${installCommand(["--download-only", packageName])}`,
  );
}
