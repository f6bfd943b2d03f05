#!/usr/bin/env node
import { realSystem } from "@quartermaster/runtime";

import { runExporter } from "./run-exporter.ts";
import { readSettings, SettingsError } from "./settings.ts";

try {
  const system = realSystem();
  const stopping = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const)
    process.once(name, () => {
      stopping.abort();
    });
  await runExporter(readSettings(process.argv.slice(2)), { system, signal: stopping.signal });
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`quartermaster-search-exporter: ${error.message}\n`);
  process.exitCode = 2;
}
