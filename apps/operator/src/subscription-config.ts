import { readFileSync } from "node:fs";

import {
  readSubscriptionSettings,
  type SubscriptionSettings,
  SubscriptionSettingsError,
} from "@quartermaster/subscription";

import { SettingsError } from "./settings-error.ts";

/** Reads the file of `--subscription-config`; without one, the defaults. Throws SettingsError that names file and fields. */
export function readSubscriptionConfig(path: string | undefined): SubscriptionSettings {
  if (path === undefined) return readSubscriptionSettings({});
  try {
    return readSubscriptionSettings(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    throw new SettingsError(`--subscription-config: ${path}: ${faultOf(error)}`, { cause: error });
  }
}

function faultOf(error: unknown): string {
  if (error instanceof SubscriptionSettingsError) return error.message;
  return error instanceof SyntaxError ? "not JSON" : "cannot be read";
}
