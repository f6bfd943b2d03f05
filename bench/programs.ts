import { basename, join } from "node:path";

import { bundleProgram } from "@quartermaster/tools/bundle";
import { buildGoProgram as build, programCache } from "@quartermaster/tools/go-program";

/** A program in Go: the directory below bench/peers pins its versions, the package says which program. */
export interface GoProgram {
  readonly name: string;
  /** Default: the module's own. */
  readonly package?: string;
  /** Needs no library of this machine, for an image (default: it may). */
  readonly isStatic?: boolean;
}

/** Builds a peer. */
export function buildGoProgram({ name, package: path = ".", isStatic }: GoProgram): string {
  return build({
    module: join(import.meta.dirname, "peers", name),
    package: path,
    name: path === "." ? name : `${name}-${basename(path)}`,
    isStatic,
  });
}

/** One file with all that a program of ours needs; `entryPoint` is below bench/. */
export async function bundleEntry(name: string, entryPoint: string): Promise<string> {
  const outfile = join(programCache(), `${name}.mjs`);
  await bundleProgram({ entryPoint: join(import.meta.dirname, entryPoint), outfile });
  return outfile;
}
