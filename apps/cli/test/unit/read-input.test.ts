import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";

import { type } from "../support/user.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "qm-input-"));
  await mkdir(join(directory, "linked/folder.yaml"), { recursive: true });
  await writeFile(join(directory, "real.txt"), aConfigMap("linked"));
  await writeFile(join(directory, "linked/folder.yaml/inner.yaml"), aConfigMap("inner"));
  await symlink("../real.txt", join(directory, "linked/a.yaml"));
  await symlink("..", join(directory, "linked/back.yaml"));
  await mkdir(join(directory, "broken"));
  await symlink("nowhere", join(directory, "broken/x.yaml"));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

function aConfigMap(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`;
}

async function pack(location: string, input: string | Uint8Array = ""): ReturnType<typeof type> {
  return await type(["pack", location, "--name", "shop", "-o", "json"], { input });
}

test("text that is not UTF-8 is refused instead of being replaced", async () => {
  const latin = Buffer.from(`${aConfigMap("a")}data: { drink: "caf\u{E9}" }\n`, "latin1");
  expect(await pack("-", latin)).toEqual({
    code: 1,
    out: "",
    err: "error: standard input: is not valid UTF-8; save it as UTF-8",
  });
});

test("a directory named like a file, and links, are read without going in circles", async () => {
  const { code, out } = await pack(join(directory, "linked"));
  expect(code).toBe(0);
  expect(parse(out)).toMatchObject({
    items: [
      {
        spec: {
          stages: [
            {
              resources: [
                { manifest: { metadata: { name: "linked" } } },
                { manifest: { metadata: { name: "inner" } } },
              ],
            },
          ],
        },
      },
    ],
  });
});

test("a link that leads nowhere is reported by its path, without a stack", async () => {
  const { code, err } = await pack(join(directory, "broken"));
  expect(code).toBe(4);
  expect(err).toMatch(/^error: .*broken\/x\.yaml: cannot be read; check the path \(ENOENT\)$/);
});

test("what cannot be read is reported alone, without a word about an empty plan", async () => {
  const { err } = await pack("-", "kind: [\n");
  expect(err).toMatch(/^error: standard input, document 1, line \d+, column \d+: [^\n]+$/);
});
