import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { basename, dirname, join } from "node:path";

import { z } from "zod";

import { LocalClusterError } from "../errors.ts";
import { identifyProcess, isAlive, type ProcessIdentity, readBootId } from "../process/process-identity.ts";
import { codeOf, type System, userCache } from "../system/system.ts";

/**
 * Owner of a cluster's directory. An attached cluster lives and dies with the process that started it; a detached one
 * (`make up`) outlives it. A cluster is attached until it has fully started, so a launcher killed on the way leaves nothing.
 */
export interface DirectoryOwner {
  readonly mode: "attached" | "detached";
  readonly launcher: ProcessIdentity;
  readonly bootId: string;
}

const ownerSchema = z.object({
  mode: z.enum(["attached", "detached"]),
  launcher: z.object({ pid: z.int(), startTicks: z.string() }),
  bootId: z.string(),
});

/** The directory below which all clusters of this user live, unless a cluster is given a directory of its own. */
export function clustersDirectory(system: System): string {
  return userCache(system, "clusters");
}

/**
 * Makes the cluster's directory, signed by its owner. The directory appears by a rename: two starts of one name cannot both
 * succeed, and no one ever sees it unsigned and takes it for abandoned.
 */
export function claimDirectory(directory: string): void {
  const claim = join(dirname(directory), `${CLAIM_PREFIX}${process.pid}-${basename(directory)}`);
  try {
    mkdirSync(claim, { recursive: true, mode: 0o700 });
    writeOwner(claim, "attached");
    renameSync(claim, directory);
  } catch (error) {
    rmSync(claim, { recursive: true, force: true });
    throw directoryError(directory, error);
  }
}

/** Turns what the file system says into a sentence with a remedy; passes anything else on. */
export function directoryError(directory: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new LocalClusterError(
      "StateFolderFull",
      `No space is left for the cluster's state in ${directory}.`,
      "Free some space, or choose another directory.",
      { cause: error },
    );
  }
  if (code === "EEXIST" || code === "ENOTEMPTY") {
    return new LocalClusterError(
      "StateFolderTaken",
      `The directory ${directory} is in use by another cluster.`,
      "Stop that one first, or choose another name.",
      { cause: error },
    );
  }
  if (code === "EACCES" || code === "EPERM" || code === "EROFS" || code === "ENOTDIR") {
    return new LocalClusterError(
      "StateFolderNotWritable",
      `The directory ${directory} cannot be written.`,
      "Make it writable for you, or choose another directory.",
      { cause: error },
    );
  }
  return error;
}

/** Records the owner by a rename, so that a reader never sees half a file. */
export function writeOwner(directory: string, mode: DirectoryOwner["mode"]): void {
  const launcher = identifyProcess(process.pid);
  if (launcher === undefined) throw new Error("a running process has no identity in /proc");
  const owner: DirectoryOwner = { mode, launcher, bootId: readBootId() };
  const draft = join(directory, "owner.json.new");
  writeFileSync(draft, JSON.stringify(owner));
  renameSync(draft, join(directory, OWNER_FILE));
}

/** Directories below `parent` whose cluster has no owner any more. */
export function abandonedDirectories(parent: string): readonly string[] {
  return listDirectories(parent).filter((directory) => {
    const owner = readOwner(directory);
    return owner === undefined ? isDeadClaim(basename(directory)) : isAbandoned(owner, readBootId());
  });
}

/** Decides whether a cluster with this owner is to be cleared away. */
export function isAbandoned(owner: DirectoryOwner, bootId: string): boolean {
  if (owner.bootId !== bootId) return true;
  return owner.mode === "attached" && !isAlive(owner.launcher);
}

/** The owner on record, or undefined when the directory is not a cluster's, or not yet signed. */
export function readOwner(directory: string): DirectoryOwner | undefined {
  try {
    return ownerSchema.parse(JSON.parse(readFileSync(join(directory, OWNER_FILE), "utf8")));
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

const OWNER_FILE = "owner.json";
const CLAIM_PREFIX = ".claim-";

function isDeadClaim(name: string): boolean {
  return (
    name.startsWith(CLAIM_PREFIX) &&
    identifyProcess(Number.parseInt(name.slice(CLAIM_PREFIX.length), 10)) === undefined
  );
}

function listDirectories(parent: string): readonly string[] {
  try {
    return readdirSync(parent).map((name) => join(parent, name));
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw directoryError(parent, error);
  }
}

/** The launcher's end of the pipe to a cluster's guardian. */
export interface Guard {
  /** Lets the guardian go without touching the cluster; resolves once it no longer exists. */
  release(): Promise<void>;
}

/** Starts the guardian of the cluster in `directory`. From here on the death of this process is the death of the cluster. */
export function postGuard(directory: string): Guard {
  const guardian = spawn(process.execPath, [join(import.meta.dirname, "guardian.ts"), directory], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: {},
  });
  guardian.unref();
  const pipe = guardian.stdin;
  pipe.on("error", () => undefined); // a guardian that was killed: as above
  if (pipe instanceof Socket) pipe.unref();
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  guardian.once("close", () => resolve());
  guardian.once("error", () => resolve()); // no guardian: the next start reaps instead
  return {
    release: async () => {
      guardian.ref();
      pipe.end("release");
      await gone;
    },
  };
}
