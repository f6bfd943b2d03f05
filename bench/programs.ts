import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";

import { bundleProgram } from "@quartermaster/tools/bundle";

/** A program in Go: the directory below bench/peers pins its versions, the package says which program. */
export interface GoProgram {
  readonly name: string;
  /** Default: the module's own. */
  readonly package?: string;
  /** Needs no library of this machine, for an image (default: it may). */
  readonly isStatic?: boolean;
}

/** Builds a program in Go from the module proxy and says where it is. The first time may take minutes, later ones a second. */
export function buildGoProgram({ name, package: path = ".", isStatic = false }: GoProgram): string {
  const output = join(cacheDirectory(), path === "." ? name : `${name}-${basename(path)}`);
  const cwd = join(import.meta.dirname, "peers", name);
  const { status } = spawnSync("go", ["build", "-trimpath", "-mod=readonly", "-o", output, path], {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...(isStatic ? { CGO_ENABLED: "0" } : {}) },
  });
  if (status !== 0) throw new Error(`go build of ${name} ended with ${String(status)}`);
  return output;
}

/** One file with all that a program of ours needs; `entryPoint` is below bench/. */
export async function bundleEntry(name: string, entryPoint: string): Promise<string> {
  const outfile = join(cacheDirectory(), `${name}.mjs`);
  await bundleProgram({ entryPoint: join(import.meta.dirname, entryPoint), outfile });
  return outfile;
}

function cacheDirectory(): string {
  const home = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const directory = join(home, "quartermaster", "bench");
  mkdirSync(directory, { recursive: true });
  return directory;
}
