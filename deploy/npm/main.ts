import { join } from "node:path";
import { parseArgs } from "node:util";

import { releaseVersion } from "@quartermaster/api/release";

import { writeNpmPackage } from "./npm-package.ts";

/** `make npm`: writes the npm package of `qm`. */
const { values } = parseArgs({
  options: { output: { type: "string", default: join(import.meta.dirname, "../../dist/npm") } },
});
process.stdout.write(`${await writeNpmPackage(values.output, releaseVersion)}\n`);
