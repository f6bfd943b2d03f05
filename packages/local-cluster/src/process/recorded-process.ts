import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { codeOf } from "../system/file-error.ts";
import type { System } from "../system/system.ts";
import { isAlive, parseStatLine, type ProcessIdentity } from "./process-identity.ts";

/** A process that a cluster's folder has on record. */
export interface RecordedProcess {
  readonly name: string;
  readonly identity: ProcessIdentity;
}

/** Everything on record below `folder`, dead or alive. A record that was cut off belongs to a process that never ran. */
export function readRecords(folder: string): readonly RecordedProcess[] {
  return listIfThere(join(folder, "pids")).flatMap((file) => {
    const identity = parseStatLine(readFileSync(join(folder, "pids", file), "utf8"));
    return identity === undefined ? [] : [{ name: file.slice(0, file.lastIndexOf(".")), identity }];
  });
}

/**
 * Ends every recorded process that still is the one on record, until a look finds none alive: a process may put itself on
 * record while we end the others. A stranger that took over a recorded pid has another start time and is left alone.
 */
export async function endRecorded(folder: string, system: System): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const alive = readRecords(folder).filter(({ identity }) => isAlive(identity));
    if (alive.length === 0) return;
    for (const { identity } of alive) endProcess(identity);
    await system.sleep(10);
  }
}

/** SIGKILL to exactly this process; a process that ended meanwhile is what we wanted. */
function endProcess(identity: ProcessIdentity): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, "SIGKILL");
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

/** Ten seconds in all: a process in an uninterruptible wait cannot be ended sooner. */
const MAX_ROUNDS = 1000;

function listIfThere(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
