import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { writePayload } from "../../src/files/write-payload.ts";

function emptyDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "qm-payload-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function filesOf(data: Readonly<Record<string, string>>): ReadonlyMap<string, Buffer> {
  return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value)]));
}

/** What a container sees: names without dots in front, with their content. */
function visible(directory: string): Readonly<Record<string, string>> {
  const names = readdirSync(directory).filter((name) => !name.startsWith(".."));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}

describe("the files of a volume", () => {
  test("are links through ..data, with the mode that was requested", () => {
    using directory = emptyDirectory();
    expect(writePayload(directory.path, filesOf({ a: "1", b: "" }), { mode: 0o440, version: "v1" })).toBe(
      true,
    );
    expect(visible(directory.path)).toEqual({ a: "1", b: "" });
    expect(readlinkSync(join(directory.path, "..data"))).toBe("..v1");
    expect(readlinkSync(join(directory.path, "a"))).toBe("..data/a");
    expect(statSync(join(directory.path, "a")).mode & 0o777).toBe(0o440);
  });

  test("are left alone when nothing has changed", () => {
    using directory = emptyDirectory();
    writePayload(directory.path, filesOf({ a: "1" }), { mode: 0o444, version: "v1" });
    expect(writePayload(directory.path, filesOf({ a: "1" }), { mode: 0o444, version: "v2" })).toBe(false);
    expect(readdirSync(directory.path).toSorted()).toEqual(["..data", "..v1", "a"]);
  });

  test.each([
    { name: "another value", next: { a: "2", b: "b" } },
    { name: "a new key", next: { a: "1", b: "b", c: "c" } },
    { name: "a key less", next: { a: "1" } },
    { name: "no key at all", next: {} },
    { name: "another name for the same value", next: { a: "1", c: "b" } },
  ])("follow $name, and nothing of the former content is left", ({ next }) => {
    using directory = emptyDirectory();
    writePayload(directory.path, filesOf({ a: "1", b: "b" }), { mode: 0o444, version: "v1" });
    expect(writePayload(directory.path, filesOf(next), { mode: 0o444, version: "v2" })).toBe(true);
    expect(visible(directory.path)).toEqual(next);
    expect(
      readdirSync(directory.path)
        .filter((name) => name.startsWith(".."))
        .toSorted(),
    ).toEqual(["..data", "..v2"]);
  });

  test("are completed after an attempt that was cut off", () => {
    using directory = emptyDirectory();
    writePayload(directory.path, filesOf({ a: "1" }), { mode: 0o444, version: "v1" });
    mkdirSync(join(directory.path, "..half"));
    writeFileSync(join(directory.path, "..half", "a"), "2");
    writeFileSync(join(directory.path, "..data_tmp"), "");
    rmSync(join(directory.path, "a"));
    expect(writePayload(directory.path, filesOf({ a: "1" }), { mode: 0o444, version: "v2" })).toBe(false);
    expect(visible(directory.path)).toEqual({ a: "1" });
    writePayload(directory.path, filesOf({ a: "3" }), { mode: 0o444, version: "v3" });
    expect(readdirSync(directory.path).toSorted()).toEqual(["..data", "..v3", "a"]);
  });
});
