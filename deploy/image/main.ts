#!/usr/bin/env node
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";

import { images, writeImage, writeImageFiles } from "./program-images.ts";

const { values } = parseArgs({
  options: {
    image: { type: "string", default: "operator" },
    output: { type: "string" },
    files: { type: "string" },
    /** `none` is faster; the digest of what the image holds is the same. */
    compression: { type: "string", default: "gzip" },
  },
});
const image = images[values.image];
if (image === undefined) throw new Error(`--image: one of ${Object.keys(images).join(", ")}`);
if (values.files === undefined) {
  const target = values.output ?? (values.image === "operator" ? "dist/image" : `dist/${values.image}-image`);
  rmSync(target, { recursive: true, force: true });
  const { name, directory, digest } = await writeImage(image, {
    target,
    compression: values.compression === "none" ? "none" : "gzip",
  });
  process.stdout.write(`${name}\n${digest}\n${directory}\n`);
} else {
  await writeImageFiles(image, values.files);
}
