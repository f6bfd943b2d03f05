import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

const main = join(import.meta.dirname, "../../src/main.ts");
const pack = ["pack", "-", "--name", "shop"];

/** A node process starts slowly on a busy machine. */
const timeoutMs = 30_000;

/** The plan of these is more than a pipe holds. */
const manyObjects = Array.from(
  { length: 3_000 },
  (_, index) => `---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: c${index} }\n`,
).join("");

test("a reader that goes away ends the program without a word", { timeout: timeoutMs }, async () => {
  const child = spawn(process.execPath, [main, ...pack], { stdio: ["pipe", "pipe", "pipe"] });
  const err = text(child.stderr);
  child.stdout.once("data", () => child.stdout.destroy());
  child.stdin.end(manyObjects);
  const [code] = (await once(child, "close")) as [number];
  expect({ code, err: await err }).toEqual({ code: 141, err: "" });
});

test(
  "one Ctrl-C ends a program that waits for its input, without a word",
  { timeout: timeoutMs },
  async () => {
    const child = spawn(process.execPath, [main, ...pack], { stdio: ["pipe", "pipe", "pipe"] });
    const err = text(child.stderr);
    // More than a pipe holds: what was written is read only once the program waits for input.
    await new Promise((resolve) => {
      child.stdin.write("#".repeat(4_000_000), resolve);
    });
    child.kill("SIGINT");
    const [code] = (await once(child, "close")) as [number];
    expect({ code, err: await err }).toEqual({ code: 130, err: "" });
  },
);
