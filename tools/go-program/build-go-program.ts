import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A program in Go: the module pins its versions, the package says which program. */
export interface GoProgram {
  /** Directory of the module, absolute. */
  readonly module: string;
  /** Default: the module's own. */
  readonly package?: string | undefined;
  /** Name of the program in the cache. */
  readonly name: string;
  /** Needs no library of this machine, for an image (default: it may). */
  readonly isStatic?: boolean | undefined;
}

/** Builds a program in Go from the module proxy and returns its path. The first time may take minutes, later ones a second. */
export function buildGoProgram({ module, package: path = ".", name, isStatic = false }: GoProgram): string {
  const output = join(programCache(), name);
  const { status } = spawnSync("go", ["build", "-trimpath", "-mod=readonly", "-o", output, path], {
    cwd: module,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...(isStatic ? { CGO_ENABLED: "0" } : {}) },
  });
  if (status !== 0) throw new Error(`go build of ${name} ended with ${String(status)}`);
  return output;
}

/** Directory outside the repository where programs are kept that take long to build. */
export function programCache(): string {
  const home = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const directory = join(home, "quartermaster", "bench");
  mkdirSync(directory, { recursive: true });
  return directory;
}
