#!/usr/bin/env node
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";

import { writeOperatorFiles } from "./operator-files.ts";
import { writeOperatorImage } from "./operator-image.ts";

const { values } = parseArgs({
  options: { output: { type: "string", default: "dist/image" }, files: { type: "string" } },
});
if (values.files === undefined) {
  rmSync(values.output, { recursive: true, force: true });
  const { name, folder, digest } = await writeOperatorImage({ target: values.output });
  process.stdout.write(`${name}\n${digest}\n${folder}\n`);
} else {
  await writeOperatorFiles(values.files);
}
