import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { realSystem } from "@quartermaster/runtime";

const folder = join(import.meta.dirname, "../../../../.tmp/prometheus");

/** How a program of Prometheus is called. */
export type PrometheusProgram = "promtool" | "prometheus";

/**
 * Where a program of Debian's package prometheus is: named by `QM_PROMTOOL`, on the PATH, or unpacked below `.tmp`, where the package is
 * downloaded once. Undefined where there is none to be had.
 */
export function prometheusProgram(name: PrometheusProgram): string | undefined {
  const { env } = realSystem();
  const named = name === "promtool" ? env["QM_PROMTOOL"] : undefined;
  const unpacked = join(folder, "usr/bin", name);
  const found = [named, name, unpacked].find((each) => each !== undefined && runs(each));
  if (found !== undefined) return found;
  return download() && runs(unpacked) ? unpacked : undefined;
}

function runs(program: string): boolean {
  return spawnSync(program, ["--version"]).status === 0;
}

/** Unpacked beside its place and moved there: two runs at once do not see half of it. */
function download(): boolean {
  mkdirSync(join(folder, ".."), { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    execFileSync("apt-get", ["download", "prometheus"], { cwd: made, stdio: "ignore", timeout: 120_000 });
    const [archive = ""] = readdirSync(made);
    execFileSync("dpkg-deb", ["-x", archive, "files"], { cwd: made, stdio: "ignore", timeout: 60_000 });
    if (!existsSync(folder)) renameSync(join(made, "files"), folder);
    return true;
  } catch {
    // No Debian, or no way to its packages: the caller says what that means.
    return false;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
