import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { codeOf } from "../system/file-error.ts";
import type { System } from "../system/system.ts";
import { isWriterAlive, pidOf, thisWriter } from "./writer.ts";

/** A folder of the cache, and who wants to fill it. */
export interface LockRequest {
  readonly folder: string;
  readonly system: System;
  readonly signal?: AbortSignal;
  /** Called once, when another process holds the lock. */
  readonly onWait: (pid: string) => void;
}

/**
 * Makes the second of two processes that want the same binaries wait for the first one's. It only saves work: what keeps
 * the cache whole are unique temporary names and renames, so after an hour's wait we go on without it.
 */
export async function lockCacheFolder(request: LockRequest): Promise<AsyncDisposable> {
  const { folder, system, signal } = request;
  const lock = join(folder, "lock");
  const draft = join(folder, `lock-draft-${thisWriter()}-${system.randomHex(4)}`);
  await writeFile(draft, thisWriter());
  try {
    const deadlineMs = system.nowMs() + LONGEST_WAIT_MS;
    let told = false;
    while (system.nowMs() < deadlineMs) {
      const holder = await tryLock(draft, lock);
      if (holder === undefined) return { [Symbol.asyncDispose]: async () => await rm(lock, { force: true }) };
      if (!isWriterAlive(holder)) {
        await breakLock(lock, `${draft}-stale`);
        continue;
      }
      if (!told) request.onWait(pidOf(holder));
      told = true;
      await system.sleep(POLL_MS, signal);
    }
    return new AsyncDisposableStack();
  } finally {
    await rm(draft, { force: true });
  }
}

const LONGEST_WAIT_MS = 60 * 60 * 1000;
const POLL_MS = 200;

/** A hard link appears whole or not at all. Returns the holder when somebody else has the lock. */
async function tryLock(draft: string, lock: string): Promise<string | undefined> {
  try {
    await link(draft, lock);
    return undefined;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  return await readOrEmpty(lock);
}

/** Moved aside before it is removed: of two processes that find the same stale lock, one moves it. */
async function breakLock(lock: string, aside: string): Promise<void> {
  try {
    await rename(lock, aside);
    if (isWriterAlive(await readOrEmpty(aside))) await link(aside, lock);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
  }
  await rm(aside, { force: true });
}

/** Empty when it is gone: nobody holds it, and the next round takes it. */
async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}
