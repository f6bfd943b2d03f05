#!/usr/bin/env node
import { buffer } from "node:stream/consumers";

import { realSystem } from "@quartermaster/runtime";

import { realTerminal } from "./output/terminal.ts";
import { run } from "./run.ts";

const system = realSystem();
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
process.once("SIGTERM", () => stop.abort());

process.exitCode = await run(process.argv.slice(2), {
  system,
  terminal: realTerminal(system),
  signal: stop.signal,
  readStandardInput: async () => await buffer(process.stdin),
});
