import type { System } from "../system/system.ts";

/** Placeholder until the nodes room is furnished. */
export async function clearNodes(_folder: string, _system: System): Promise<void> {
  await Promise.resolve();
}
