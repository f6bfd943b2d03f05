import { join } from "node:path";

import { buildGoProgram, bundleEntry } from "../programs.ts";

/** Builds the peer in Go. */
export function buildGoPeer(): string {
  return buildGoProgram({ name: "controller-runtime-go" });
}

/** The contestant as one file. */
export async function bundle(name: string): Promise<string> {
  return await bundleEntry(name, join("contestants", `${name}.ts`));
}
