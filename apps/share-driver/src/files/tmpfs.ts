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

/** File systems in memory, one per volume. Mounting is the one thing that Node cannot do: docs/decisions/0051-share-driver.md. */
export interface Tmpfs {
  /** Mounts an empty file system at `target`, which must not be one yet. */
  mount(target: string): Promise<void>;
  /** Unmounts whatever is mounted at `target`, and removes the folder. Does nothing where there is nothing. */
  unmount(target: string): Promise<void>;
  isMounted(target: string): boolean;
}

/** Mounts with the programs `mount` and `umount` of util-linux. */
export function utilLinuxTmpfs(system: Pick<System, "yieldToOthers">): Tmpfs {
  // Starting a process costs more than the mount, for it begins as a copy of this one: pods that start at once share one.
  const mounts = new Batch(mountAll, async () => {
    await system.yieldToOthers();
  });
  return {
    mount: async (target) => {
      await mount(target, mounts);
    },
    unmount,
    isMounted: (target) => mountsAt(target) > 0,
  };
}

/**
 * Room for two contents of the largest size, and three entries per key: file, old file, link. Files are for everybody to read,
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

async function mount(target: string, mounts: Batch<string, unknown>): Promise<void> {
  // kubelet makes the folder of the volume; where there is none, there is no such pod.
  if (!existsSync(dirname(target))) throw new Refusal("InvalidRequest", "the pod has no such volume");
  mkdirSync(target, { recursive: true, mode: 0o750 });
  assertNoLinks(target);
  const failure = await mounts.add(target);
  if (mountsAt(target) === 0) throw failed("mount", failure);
}

/** Mounts as many as it can with one process. Returns what went wrong, if anything; the mount table says for whom. */
async function mountAll(targets: readonly string[]): Promise<unknown> {
  const folder = mkdtempSync("/dev/shm/qm-mounts-"); // the image is read-only; every container has this
  try {
    const table = join(folder, "fstab");
    writeFileSync(table, targets.map((target) => `tmpfs ${target} tmpfs ${options} 0 0\n`).join(""));
    await promisify(execFile)("mount", ["-n", "-a", "-T", table], { timeout: 30_000 });
    return undefined;
  } catch (error) {
    return error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function unmount(target: string): Promise<void> {
  if (!existsSync(target)) return;
  assertNoLinks(target);
  for (let left = mountsAt(target); left > 0; left -= 1) await unmountOnce(target);
  if (mountsAt(target) > 0) throw new Refusal("MountFailed", "the volume is still mounted");
  rmdirSync(target);
}

/** A link on the way would lead the mount to another place. */
function assertNoLinks(target: string): void {
  if (realpathSync(target) !== target)
    throw new Refusal("InvalidRequest", "the target path leads over a symbolic link");
}

/** How many file systems are mounted at `target`, one on top of the other. Blanks in paths are octal escapes; ours have none. */
function mountsAt(target: string): number {
  const table = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return table.filter((line) => line.split(" ")[4] === target).length;
}

async function unmountOnce(target: string): Promise<void> {
  try {
    await promisify(execFile)("umount", ["-n", target], { timeout: 30_000 });
  } catch (error) {
    throw failed("umount", error);
  }
}

function failed(program: "mount" | "umount", cause: unknown): Refusal {
  return new Refusal("MountFailed", `${program} failed, see the log of the share driver`, cause);
}
