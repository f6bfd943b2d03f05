import { execFileSync } from "node:child_process";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createGzip } from "node:zlib";

import { expect, test } from "vitest";

const mebibyte = 2 ** 20;

/** A process of its own, whose high-water mark nothing else has raised before. */
const script = `
  import { readFileSync } from "node:fs";
  const { resolveManifest } = await import(process.argv[1]);
  const data = readFileSync(0, "utf8");
  const manifest = { metadata: { name: "bomb" }, spec: { data, sha256: "" } };
  const before = process.resourceUsage().maxRSS;
  const { kind, message } = resolveManifest(manifest, () => undefined);
  console.log(JSON.stringify({ kind, message, grownBytes: (process.resourceUsage().maxRSS - before) * 1024 }));
`;

function* zeros(mebibytes: number): Generator<Buffer> {
  const block = Buffer.alloc(mebibyte);
  for (let count = 0; count < mebibytes; count += 1) yield block;
}

test.each([5, 64, 512])(
  "[install-plan/23] data that inflates to %i MiB is invalid, and takes no more memory than the limit allows",
  async (mebibytes) => {
    const bomb = (await buffer(Readable.from(zeros(mebibytes)).pipe(createGzip()))).toString("base64");
    const source = fileURLToPath(import.meta.resolve("../../../src/manifest/resolve-manifest.ts"));
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", script, source], {
      input: bomb,
      encoding: "utf8",
    });
    const { kind, message, grownBytes } = JSON.parse(output) as {
      readonly kind: string;
      readonly message: string;
      readonly grownBytes: number;
    };
    expect([kind, message]).toEqual(["invalid", "ResourceManifest bomb: inflates to more than 4 MiB"]);
    expect(grownBytes).toBeLessThan(32 * mebibyte);
  },
);
