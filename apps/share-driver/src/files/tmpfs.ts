import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { release } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import type { System } from "@quartermaster/runtime";

import { MAX_KEYS, MAX_PAYLOAD_BYTES } from "../payload.ts";
import { Refusal } from "../refusal.ts";
import { Batch } from "./batch.ts";

/** File systems in memory, one per volume. Mounting is the one thing that Node cannot do: docs/decisions/0031-our-own-share-driver.md. */
export interface Tmpfs {
  /** Mounts an empty file system at `target`, which must not be one yet. */
  mount(target: string): Promise<void>;
  /** Unmounts whatever is mounted at `target`, and removes the directory. Does nothing where there is nothing. */
  unmount(target: string): Promise<void>;
  isMounted(target: string): boolean;
}

/** Mounts with the programs `mount` and `umount` of util-linux. */
export function utilLinuxTmpfs(system: Pick<System, "yieldToOthers">): Tmpfs {
  // Starting a process costs more than the mount, for it begins as a copy of this one: pods that start together share one.
  const nextTurn = async (): Promise<void> => {
    await system.yieldToOthers();
  };
  const mounts = new Batch(mountAll, nextTurn);
  const unmounts = new Batch(unmountAll, nextTurn);
  return {
    mount: async (target) => {
      await mount(target, mounts);
    },
    unmount: async (target) => {
      await unmount(target, unmounts);
    },
    isMounted: (target) => mountsAt(target) > 0,
  };
}

/**
 * Room for two contents of the largest size, and three entries per key: file, old file, link. Files are for all clients to read,
 * since pods run as any user; a container sees only its own volumes.
 */
const options = [
  "mode=0755",
  `size=${(2 * MAX_PAYLOAD_BYTES) / 1024 / 1024 + 8}m`,
  `nr_inodes=${3 * MAX_KEYS + 64}`,
  "noexec",
  "nosuid",
  "nodev",
  ...(keepsOffSwap(release()) ? ["noswap"] : []),
].join(",");

/** Whether a kernel of this release knows the option that keeps the content out of swap (from 6.4). */
export function keepsOffSwap(kernelRelease: string): boolean {
  const [, major = "0", minor = "0"] = /^(\d+)\.(\d+)/.exec(kernelRelease) ?? [];
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 4);
}

async function mount(target: string, mounts: Batch<string, Outcome>): Promise<void> {
  // kubelet makes the directory of the volume; where there is none, there is no such pod.
  if (!existsSync(dirname(target))) throw new Refusal("InvalidRequest", "the pod has no such volume");
  mkdirSync(target, { recursive: true, mode: 0o750 });
  assertNoLinks(target);
  const { failure, mounted } = await mounts.add(target);
  if (!mounted.includes(target)) throw failed("mount", failure);
}

/** What a process did for many volumes. It may fail for some only: the mount table, read once for all of them, says for whom. */
interface Outcome {
  readonly failure: unknown;
  /** Where a file system is mounted now, once for each. */
  readonly mounted: readonly string[];
}

/** Mounts as many as it can with one process. */
async function mountAll(targets: readonly string[]): Promise<Outcome> {
  const directory = mkdtempSync("/dev/shm/qm-mounts-"); // the image is read-only; every container has this
  try {
    const table = join(directory, "fstab");
    writeFileSync(table, targets.map((target) => `tmpfs ${target} tmpfs ${options} 0 0\n`).join(""));
    return await outcomeOf("mount", ["-n", "-a", "-T", table]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function unmount(target: string, unmounts: Batch<string, Outcome>): Promise<void> {
  if (!existsSync(target)) return;
  assertNoLinks(target);
  for (let left = mountsAt(target); left > 0; left -= 1) {
    const { failure, mounted } = await unmounts.add(target);
    const still = mounted.filter((location) => location === target).length;
    if (still >= left) throw failed("umount", failure);
  }
  if (mountsAt(target) > 0) throw new Refusal("MountFailed", "the volume is still mounted");
  rmdirSync(target);
}

/** Unmounts as many as it can with one process: pods are often deleted by the dozen. */
async function unmountAll(targets: readonly string[]): Promise<Outcome> {
  return await outcomeOf("umount", ["-n", ...targets]);
}

async function outcomeOf(program: "mount" | "umount", args: readonly string[]): Promise<Outcome> {
  const failure: unknown = await promisify(execFile)(program, args, { timeout: 30_000 }).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { failure, mounted: mountPoints() };
}

/** A link on the way would lead the mount to another place. */
function assertNoLinks(target: string): void {
  if (realpathSync.native(target) !== target)
    throw new Refusal("InvalidRequest", "the target path leads over a symbolic link");
}

/** How many file systems are mounted at `target`, one on top of the other. Blanks in paths are octal escapes; ours have none. */
function mountsAt(target: string): number {
  return mountPoints().filter((location) => location === target).length;
}

function mountPoints(): readonly string[] {
  const table = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return table.map((line) => line.split(" ")[4] ?? "");
}

function failed(program: "mount" | "umount", cause: unknown): Refusal {
  return new Refusal("MountFailed", `${program} failed, see the log of the share driver`, cause);
}
