import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { measureUsage } from "../../src/cluster/local-cluster.ts";
import { startLocalCluster } from "../../src/index.ts";
import { processesMentioning } from "./processes.ts";

/** A temporary directory. */
function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "qm-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const isRoot = process.getuid?.() === 0;

describe("broken environment", () => {
  test("[local-cluster/LC-16] names a port that is taken and starts nothing", async () => {
    using parent = temporaryDirectory();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const attempt = startLocalCluster({ parentDirectory: parent.path, port });
    await expect(attempt).rejects.toMatchObject({
      code: "PortTaken",
      message: expect.stringContaining(String(port)) as string,
    });
    server.close();
    expect(readdirSync(parent.path)).toEqual([]);
  });

  test("[local-cluster/LC-16] names a state directory that cannot be made", async () => {
    using parent = temporaryDirectory();
    const file = join(parent.path, "a-file");
    writeFileSync(file, "");
    await expect(startLocalCluster({ parentDirectory: join(file, "below") })).rejects.toMatchObject({
      code: "StateFolderNotWritable",
      message: expect.stringContaining(file) as string,
    });
  });

  test.runIf(isRoot)(
    "[local-cluster/LC-16] says that the state directory is full and leaves nothing running",
    async () => {
      using parent = temporaryDirectory();
      const small = join(parent.path, "small");
      mkdirSync(small);
      execFileSync("mount", ["--no-mtab", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small]);
      try {
        const attempt = startLocalCluster({ parentDirectory: small, name: "full" });
        await expect(attempt).rejects.toMatchObject({
          code: "StateFolderFull",
          message: expect.stringContaining("Free some space") as string,
        });
        expect(existsSync(join(small, "full"))).toBe(false);
        expect(processesMentioning(small)).toEqual([]);
      } finally {
        execFileSync("umount", ["--no-mtab", small]);
      }
    },
  );

  test("refuses a directory whose sockets would not fit, before anything is started", async () => {
    using parent = temporaryDirectory();
    const deep = join(parent.path, "d".repeat(90));
    await expect(startLocalCluster({ parentDirectory: deep })).rejects.toMatchObject({ code: "PathTooLong" });
    expect(existsSync(deep)).toBe(false);
  });

  test("refuses a second cluster of the same name while the first runs, and leaves the first alone", async () => {
    using parent = temporaryDirectory();
    await using first = await startLocalCluster({ parentDirectory: parent.path, name: "same" });
    await expect(startLocalCluster({ parentDirectory: parent.path, name: "same" })).rejects.toMatchObject({
      code: "StateFolderTaken",
    });
    expect(measureUsage(first.directory).map(({ name }) => name)).toContain("kube-apiserver");
    expect((await first.kubectl(["get", "--raw", "/readyz"])).stdout).toBe("ok");
  });

  test("clears everything away when the start is given up half-way", async () => {
    using parent = temporaryDirectory();
    const controller = new AbortController();
    const attempt = startLocalCluster({
      parentDirectory: parent.path,
      name: "given-up",
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(), 1500);
    await expect(attempt).rejects.toThrow(/abort/i);
    expect(readdirSync(parent.path)).toEqual([]);
    expect(processesMentioning(parent.path)).toEqual([]);
  });
});
