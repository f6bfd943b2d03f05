import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, link, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { identifyProcess, isAlive, readBootId } from "../process/process-identity.ts";
import { codeOf, type System, userCache } from "../system/system.ts";
import { BUILD_ENVIRONMENT, buildFlags } from "./build.ts";
import type { ComponentName } from "./component.ts";
import type { GoModule } from "./go-module.ts";
import type { Platform } from "./platform.ts";

/** State of a component in the cache. A broken entry is never run: it has been removed when this is returned. */
export type CacheEntry =
  | { readonly kind: "sound"; readonly path: string }
  | { readonly kind: "absent" }
  | { readonly kind: "broken"; readonly reason: string };

/** The directory that holds the binaries of this module, for this platform, built from exactly these locks and flags. */
export function cacheDirectory(module: GoModule, platform: Platform, system: System): string {
  return join(userCache(system, "assets"), cacheKey(module, platform));
}

/** Name of that directory. */
export function cacheKey(module: GoModule, { os, arch }: Platform): string {
  const recipe = JSON.stringify([module.lockHash, buildFlags(module), Object.entries(BUILD_ENVIRONMENT)]);
  const hash = createHash("sha256").update(recipe).digest("hex").slice(0, 12);
  return `${module.project}-${module.version}-${hash}-${os}-${arch}`;
}

/** Looks a component up. Its content is hashed only when its time stamp is not the recorded one. */
export async function lookUp(directory: string, component: ComponentName): Promise<CacheEntry> {
  const path = join(directory, component);
  const found = await stat(path).catch(undefinedIfAbsent);
  if (found === undefined) return { kind: "absent" };
  const seal = await readSeal(path);
  const reason = await problemOf(path, seal, found);
  if (reason === undefined) return { kind: "sound", path };
  await rm(path, { force: true });
  await rm(sealPath(path), { force: true });
  return { kind: "broken", reason };
}

/** A place to write to, in the directory itself so that a rename suffices; cleared away by later runs once its writer is dead. */
export async function openWorkplace(directory: string, system: System): Promise<string> {
  const workplace = join(directory, `${WORKPLACE_PREFIX}${thisWriter()}-${system.randomHex(4)}`);
  await mkdir(workplace, { recursive: true });
  return workplace;
}

/** Takes a finished file into the cache: sealed first, renamed last, so that a cut at any point leaves it absent. */
export async function store(finished: string, directory: string, component: ComponentName): Promise<string> {
  const path = join(directory, component);
  await chmod(finished, 0o755);
  await flush(finished);
  const { size, mtimeMs } = await stat(finished);
  await writeSeal(path, { sha256: await hashOf(finished), size, mtimeMs });
  await rename(finished, path);
  return path;
}

/** Removes what killed runs left half done. */
export async function clearAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const writer = /(?:^work|^lock-draft|\.seal\.json)-(\d+-\d+-[0-9a-f]+)/.exec(name)?.[1];
    if (writer !== undefined && !isWriterAlive(writer))
      await rm(join(directory, name), { recursive: true, force: true });
  }
}

const WORKPLACE_PREFIX = "work-";

/** Record of a finished binary. */
interface Seal {
  readonly sha256: string;
  readonly size: number;
  readonly mtimeMs: number;
}

async function problemOf(
  path: string,
  seal: Seal | undefined,
  found: { readonly size: number; readonly mtimeMs: number },
): Promise<string | undefined> {
  if (seal === undefined) return "it has no record of its checksum";
  if (found.size !== seal.size) return `it has ${found.size} bytes instead of ${seal.size}`;
  if (found.mtimeMs === seal.mtimeMs) return undefined;
  if ((await hashOf(path)) !== seal.sha256) return "its checksum is wrong";
  await writeSeal(path, { ...seal, mtimeMs: found.mtimeMs }).catch(undefinedIfReadOnly);
  return undefined;
}

function sealPath(path: string): string {
  return `${path}.seal.json`;
}

async function readSeal(path: string): Promise<Seal | undefined> {
  const text = await readFile(sealPath(path), "utf8").catch(undefinedIfAbsent);
  try {
    const seal: unknown = JSON.parse(text ?? "null");
    return isSeal(seal) ? seal : undefined;
  } catch {
    // Cut off while it was written: the entry was never finished.
    return undefined;
  }
}

function isSeal(value: unknown): value is Seal {
  return (
    typeof value === "object" && value !== null && "sha256" in value && "size" in value && "mtimeMs" in value
  );
}

async function writeSeal(path: string, seal: Seal): Promise<void> {
  const draft = `${sealPath(path)}-${thisWriter()}`;
  await writeFile(draft, JSON.stringify(seal));
  await rename(draft, sealPath(path));
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

async function flush(path: string): Promise<void> {
  await using file = await open(path, "r+");
  await file.sync();
}

function undefinedIfAbsent(error: unknown): undefined {
  if (!["ENOENT", "ENOTDIR"].includes(codeOf(error))) throw error;
  return undefined;
}

/** A cache shared read-only is as good; it costs a hash at each read. */
function undefinedIfReadOnly(error: unknown): undefined {
  if (!["EACCES", "EROFS", "EPERM"].includes(codeOf(error))) throw error;
  return undefined;
}

/** A directory of the cache, and who wants to fill it. */
export interface LockRequest {
  readonly directory: string;
  readonly system: System;
  readonly signal?: AbortSignal | undefined;
  /** Called once, when another process holds the lock. */
  readonly onWait: (pid: string) => void;
}

/**
 * Makes the second of two processes that want the same binaries wait for the first one's. It only saves work: what keeps
 * the cache whole are unique temporary names and renames, so after an hour's wait we continue without it.
 */
export async function lockCacheDirectory(request: LockRequest): Promise<AsyncDisposable> {
  const { directory, system, signal } = request;
  const lock = join(directory, "lock");
  const draft = join(directory, `lock-draft-${thisWriter()}-${system.randomHex(4)}`);
  await writeFile(draft, thisWriter());
  try {
    const deadlineMs = system.nowMs() + LONGEST_WAIT_MS;
    let reported = false;
    while (system.nowMs() < deadlineMs) {
      const holder = await tryLock(draft, lock);
      if (holder === undefined) return { [Symbol.asyncDispose]: async () => await rm(lock, { force: true }) };
      if (!isWriterAlive(holder)) {
        await breakLock(lock, `${draft}-stale`);
        continue;
      }
      if (!reported) request.onWait(pidOf(holder));
      reported = true;
      await system.sleep(POLL_MS, signal);
    }
    return new AsyncDisposableStack();
  } finally {
    await rm(draft, { force: true });
  }
}

const LONGEST_WAIT_MS = 60 * 60 * 1000;
const POLL_MS = 200;

/** A hard link appears whole or not at all. Returns the holder when another client has the lock. */
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

/** Empty when it no longer exists: no one holds it, and the next round takes it. */
async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}

/** Names this process in a file or file name, so that others can tell whether its writer still lives. */
function thisWriter(): string {
  const identity = identifyProcess(process.pid);
  if (identity === undefined) throw new Error("a running process has no identity in /proc");
  return `${identity.pid}-${identity.startTicks}-${bootId()}`;
}

/** True while the process that wrote this name lives; false for anything that is no such name. */
function isWriterAlive(writer: string): boolean {
  const [pid, startTicks, boot] = writer.split("-");
  if (pid === undefined || startTicks === undefined || boot !== bootId()) return false;
  return isAlive({ pid: Number(pid), startTicks });
}

/** The pid in a writer's name, for messages. */
function pidOf(writer: string): string {
  return writer.split("-")[0] ?? writer;
}

function bootId(): string {
  return readBootId().replaceAll("-", "").slice(0, 8);
}
