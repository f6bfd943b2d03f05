import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { realSystem } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { keepsOffSwap, utilLinuxTmpfs } from "../../src/files/tmpfs.ts";

const tmpfs = utilLinuxTmpfs(realSystem());

test.each([
  { release: "5.15.0-101-generic", want: false },
  { release: "6.3.9", want: false },
  { release: "6.4.0-rc1", want: true },
  { release: "6.12.1", want: true },
  { release: "7.0.0", want: true },
  { release: "unknown", want: false },
])("the kernel $release keeps content out of swap: $want", ({ release, want }) => {
  expect(keepsOffSwap(release)).toBe(want);
});

function emptyDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "qm-tmpfs-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Whether this machine lets us mount at all. */
function mayMount(): boolean {
  try {
    execFileSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false; // not root, or within a container without the privilege
  }
}

test.runIf(mayMount())(
  "a volume is a small file system without devices and programs, and goes without a trace",
  async () => {
    using directory = emptyDirectory();
    const target = join(directory.path, "volume", "mount");
    mkdirSync(join(directory.path, "volume"));
    await tmpfs.mount(target);
    try {
      const line = readFileSync("/proc/self/mountinfo", "utf8")
        .split("\n")
        .find((entry) => entry.includes(target));
      for (const option of ["nosuid", "nodev", "noexec", "size=40960k", "mode=755"])
        expect(line).toContain(option);
      expect(tmpfs.isMounted(target)).toBe(true);
    } finally {
      await tmpfs.unmount(target);
    }
    expect(tmpfs.isMounted(target)).toBe(false);
    expect(existsSync(target)).toBe(false);
    await tmpfs.unmount(target);
  },
);

test.runIf(mayMount())(
  "volumes that come together are mounted each, and one that cannot be fails alone",
  async () => {
    using directory = emptyDirectory();
    const targets = Array.from({ length: 20 }, (_, index) =>
      join(directory.path, `volume-${index}`, "mount"),
    );
    for (const target of targets) mkdirSync(join(target, ".."));
    const missing = join(directory.path, "missing", "mount");
    try {
      const ends = await Promise.allSettled(
        [...targets, missing].map(async (target) => {
          await tmpfs.mount(target);
        }),
      );
      expect(ends.map(({ status }) => status)).toEqual([...targets.map(() => "fulfilled"), "rejected"]);
      expect(targets.filter((target) => !tmpfs.isMounted(target))).toEqual([]);
    } finally {
      await Promise.all(targets.map(async (target) => await tmpfs.unmount(target)));
    }
    expect(targets.filter((target) => existsSync(target))).toEqual([]);
  },
);

test("nothing is mounted for a pod that is not there", async () => {
  using directory = emptyDirectory();
  await expect(tmpfs.mount(join(directory.path, "volume", "mount"))).rejects.toThrow("no such volume");
});

test("nothing is mounted or unmounted over a symbolic link", async () => {
  using directory = emptyDirectory();
  mkdirSync(join(directory.path, "elsewhere"));
  symlinkSync(join(directory.path, "elsewhere"), join(directory.path, "volume"));
  const target = join(directory.path, "volume", "mount");
  await expect(tmpfs.mount(target)).rejects.toThrow("symbolic link");
  mkdirSync(target, { recursive: true });
  await expect(tmpfs.unmount(target)).rejects.toThrow("symbolic link");
});
