#!/usr/bin/env node
import { ConfigError, realSystem } from "@quartermaster/runtime";

import { SettingsError } from "./flag-table.ts";
import { runOperator } from "./run-operator.ts";
import { describeSettings, readSettings } from "./settings.ts";

try {
  const system = realSystem();
  const settings = readSettings(process.argv.slice(2), system.env);
  if (settings.isHelpWanted) process.stdout.write(describeSettings());
  else await runOperator(settings, { system });
} catch (error) {
  if (!(error instanceof SettingsError) && !(error instanceof ConfigError)) throw error;
  process.stderr.write(`quartermaster-operator: ${error.message}\n`);
  process.exitCode = 2;
}
