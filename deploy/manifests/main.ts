import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { manifestFiles } from "./manifest-files.ts";
import { chartDigest } from "./render-chart.ts";

/** `main.ts` renders the charts into deploy/*.yaml; `main.ts --check` reads only whether they were rendered from today's charts. */
const directory = join(import.meta.dirname, "..");
const digest = chartDigest();

if (process.argv.includes("--check")) {
  const stale = Object.keys(manifestFiles).filter(
    (file) => !readFileSync(join(directory, file), "utf8").includes(`# Charts: sha256:${digest}\n`),
  );
  for (const file of stale) process.stdout.write(`stale deploy/${file}\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const [file, content] of Object.entries(manifestFiles)) {
    writeFileSync(join(directory, file), content(digest));
    process.stdout.write(`wrote deploy/${file}\n`);
  }
}
