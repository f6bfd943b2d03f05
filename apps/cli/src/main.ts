#!/usr/bin/env node
import { releaseVersion } from "@quartermaster/api/release";

const args = process.argv.slice(2);
// The rest of the program takes ten times as long to load as this.
if (args.length === 1 && ["version", "--version"].includes(args[0] ?? ""))
  process.stdout.write(`qm ${releaseVersion}\n`);
else void start();

/** No await at the top level: CommonJS, which the npm package is for its quicker start, has none. */
async function start(): Promise<void> {
  const { brokenOff, realContext } = await import("./real-context.ts");
  const { run } = await import("./run.ts");
  process.exitCode = await run(args, realContext(brokenOff()));
}
