import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { realSystem } from "@quartermaster/runtime";

const directory = join(import.meta.dirname, "../../../../.tmp/prometheus");

/** How a program of Prometheus is called. */
export type PrometheusProgram = "promtool" | "prometheus";

/**
 * Where a program of Debian's package prometheus is: named by `QM_PROMTOOL`, on the PATH, or unpacked below `.tmp`, where the package is
 * downloaded once. Undefined where there is none to be had.
 */
export function prometheusProgram(name: PrometheusProgram): string | undefined {
  const { env } = realSystem();
  const named = name === "promtool" ? env["QM_PROMTOOL"] : undefined;
  const unpacked = join(directory, "usr/bin", name);
  const found = [named, name, unpacked].find((each) => each !== undefined && runs(each));
  if (found !== undefined) return found;
  download();
  return runs(unpacked) ? unpacked : undefined;
}

function runs(program: string): boolean {
  return spawnSync(program, ["--version"]).status === 0;
}

/** Unpacked beside its place and moved there: of two parallel runs, one is faster and the other takes what it made. */
function download(): void {
  mkdirSync(join(directory, ".."), { recursive: true });
  const made = mkdtempSync(`${directory}-`);
  const run = (program: string, args: readonly string[]): boolean =>
    spawnSync(program, [...args], { cwd: made, stdio: "ignore", timeout: 120_000 }).status === 0;
  try {
    // Without Debian, or a way to its packages, there is nothing: the caller looks.
    if (!run("apt-get", ["download", "prometheus"])) return;
    const [archive = ""] = readdirSync(made);
    if (run("dpkg-deb", ["-x", archive, "files"])) moveInto(directory, join(made, "files"));
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function moveInto(target: string, from: string): void {
  try {
    renameSync(from, target);
  } catch (error) {
    const isTaken = error instanceof Error && "code" in error && error.code === "ENOTEMPTY";
    if (!isTaken) throw error;
  }
}
