#!/usr/bin/env node
import { brokenOff, realContext } from "./real-context.ts";
import { run } from "./run.ts";

process.exitCode = await run(process.argv.slice(2), realContext(brokenOff()));
