import { Worker } from "node:worker_threads";

import { describe, expect, test } from "vitest";
import { z } from "zod";

const response = z.object({ tookMs: z.number(), documents: z.number(), issues: z.number() });

/** Reads a text in a worker with 64 MB of heap, which ends when it needs more. */
async function readInWorker(text: string): Promise<z.infer<typeof response>> {
  const worker = new Worker(new URL("../support/hostile-reader.ts", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.once("message", resolve).once("error", reject);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
  worker.postMessage(text);
  try {
    return response.parse(await promise);
  } finally {
    await worker.terminate();
  }
}

const levels = Array.from({ length: 9 }, (_, level) => {
  const previous = level === 0 ? '"x"' : `*a${level - 1}`;
  return `a${level}: &a${level} [${Array.from({ length: 9 }, () => previous).join(",")}]`;
});

describe("hostile texts", () => {
  test.each([
    { name: "an alias bomb", text: levels.join("\n") },
    { name: "deep nesting in flow style", text: `a: ${"[".repeat(10_000)}${"]".repeat(10_000)}` },
    { name: "deep nesting in JSON", text: `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}` },
    {
      name: "deep nesting by indentation",
      text: Array.from({ length: 2_000 }, (_, n) => `${" ".repeat(n)}a:`).join("\n"),
    },
    { name: "a key that stands there twice", text: "a: 1\na: 2" },
    { name: "a key that stands twice in JSON", text: '{"a":1,"a":2}' },
    { name: "tabs for indentation", text: "a:\n\tb: 1" },
    { name: "a tag that names code", text: 'a: !!js/function "function () {}"' },
    { name: "a NUL byte", text: "a: \0" },
    { name: "a byte order mark", text: "\u{FEFF}a: 1" },
  ])("[security/17] $name is refused in 50 ms and 64 MB", async ({ text }) => {
    const { tookMs, documents, issues } = await readInWorker(text);
    expect(issues).toBeGreaterThan(0);
    expect(documents).toBe(0);
    expect(tookMs).toBeLessThan(50);
  });
});
