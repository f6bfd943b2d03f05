#!/usr/bin/env node
import { ConfigError, realSystem } from "@quartermaster/runtime";

import { runDriver } from "./run-driver.ts";
import { readSettings, SettingsError } from "./settings.ts";

try {
  const system = realSystem();
  const stopping = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const)
    process.once(name, () => {
      stopping.abort();
    });
  await runDriver(readSettings(process.argv.slice(2), system.env), { system, signal: stopping.signal });
} catch (error) {
  if (!(error instanceof SettingsError) && !(error instanceof ConfigError)) throw error;
  process.stderr.write(`quartermaster-share-driver: ${error.message}\n`);
  process.exitCode = 2;
}
