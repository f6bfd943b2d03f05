import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { writeImageLayout } from "../../src/images/image-layout.ts";
import { pauseProgram } from "../../src/images/pause-image.ts";
import { directoryEntries, type TarEntry, writeTar } from "../../src/images/tar.ts";

function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "qm-image-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const LONG = `${"folder/".repeat(20)}ü`;

const entries: readonly TarEntry[] = [
  { kind: "link", path: "bin/run", target: "program" },
  {
    kind: "file",
    path: "bin/program",
    mode: 0o755,
    uid: 1000,
    gid: 1000,
    content: Buffer.from("x".repeat(513)),
  },
  { kind: "directory", path: "bin", mode: 0o755 },
  { kind: "file", path: LONG, mode: 0o600, content: Buffer.from("") },
];

async function archive(given: readonly TarEntry[]): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(writeTar(given)));
}

describe("a tar archive", () => {
  test("is read by tar with owners, modes, links and long names", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "a.tar");
    writeFileSync(file, await archive(entries));
    const list = execFileSync("tar", ["--numeric-owner", "--utc", "--quoting-style=literal", "-tvf", file], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C.UTF-8" },
    });
    expect(
      list
        .trim()
        .split("\n")
        .map((line) => line.replaceAll(/\s+/g, " ")),
    ).toEqual([
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 bin/",
      "-rwxr-xr-x 1000/1000 513 1970-01-01 00:00 bin/program",
      "lrwxrwxrwx 0/0 0 1970-01-01 00:00 bin/run -> program",
      `-rw------- 0/0 0 1970-01-01 00:00 ${LONG}`,
    ]);
    expect(execFileSync("tar", ["-xOf", file, "bin/program"], { encoding: "utf8" })).toBe("x".repeat(513));
  });

  test("is the same whatever the order of its entries", async () => {
    expect(await archive(entries.toReversed())).toEqual(await archive(entries));
  });

  test("is refused when a file has changed its size meanwhile", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "f");
    writeFileSync(file, "abc");
    const grown: TarEntry = { kind: "file", path: "f", mode: 0o644, content: { file, sizeBytes: 2 } };
    await expect(archive([grown])).rejects.toThrow(/changed its size/);
  });
});

describe("an image layout", () => {
  const request = {
    name: "example.test/a:1",
    entries,
    entrypoint: ["/bin/run"],
    env: { B: "2", A: "1" },
    user: "1000",
  } as const;

  test("has the same digest for the same request", async () => {
    using directory = temporaryDirectory();
    const first = await writeImageLayout({ ...request, target: join(directory.path, "1") });
    const second = await writeImageLayout({
      ...request,
      entries: entries.toReversed(),
      target: join(directory.path, "2"),
    });
    expect(second.digest).toBe(first.digest);
  });

  test.each(["gzip", "none"] as const)("leads from its index to every blob (%s)", async (compression) => {
    using directory = temporaryDirectory();
    const { digest } = await writeImageLayout({
      ...request,
      compression,
      architecture: "arm64",
      target: directory.path,
    });
    const index = readJson(join(directory.path, "index.json"));
    expect(index).toMatchObject({
      manifests: [{ digest, annotations: { "io.containerd.image.name": "example.test/a:1" } }],
    });
    const manifest = readBlob(directory.path, digest) as {
      config: { digest: string };
      layers: { digest: string; size: number }[];
    };
    expect(readBlob(directory.path, manifest.config.digest)).toMatchObject({
      architecture: "arm64",
      config: { Entrypoint: ["/bin/run"], Env: ["A=1", "B=2"], User: "1000" },
    });
    const [layer] = manifest.layers;
    expect(readFileSync(blobPath(directory.path, layer?.digest ?? ""))).toHaveLength(layer?.size ?? -1);
  });

  test("takes a directory of this machine with its links and modes", () => {
    using directory = temporaryDirectory();
    mkdirSync(join(directory.path, "bin"));
    writeFileSync(join(directory.path, "bin", "b"), "b", { mode: 0o755 });
    symlinkSync("b", join(directory.path, "bin", "a"));
    const found = directoryEntries(directory.path, { uid: 5, prefix: "opt" });
    expect(found.map(({ kind, path, uid }) => [kind, path, uid])).toEqual([
      ["directory", "opt/bin", 5],
      ["link", "opt/bin/a", 5],
      ["file", "opt/bin/b", 5],
    ]);
  });
});

describe("the pause program", () => {
  test.each([
    { arch: "amd64", machine: 62 },
    { arch: "arm64", machine: 183 },
  ] as const)("is a small static executable for $arch", ({ arch, machine }) => {
    const program = Buffer.from(pauseProgram(arch));
    expect(program.subarray(0, 4).toString("latin1")).toBe("\u007fELF");
    expect(program.readUInt16LE(18)).toBe(machine);
    expect(program.length).toBeLessThan(256);
  });
});

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

function blobPath(layout: string, digest: string): string {
  return join(layout, "blobs", ...digest.split(":"));
}

function readBlob(layout: string, digest: string): unknown {
  return readJson(blobPath(layout, digest));
}
