import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";

import { type LicensingSettings, licensingSettings } from "@quartermaster/licensing";
import {
  readSubscriptionSettings,
  type SubscriptionSettings,
  SubscriptionSettingsError,
} from "@quartermaster/subscription";

import { SettingsError } from "./flag-table.ts";
import type { Settings } from "./settings.ts";

/** The settings of licensing, with the key of `--license-key-file`. Throws SettingsError that names the file. */
export function readLicensingConfig({ licenseNamespace, keyPath }: Settings["licensing"]): LicensingSettings {
  const settings = { ...licensingSettings, licenseNamespace };
  if (keyPath === undefined) return settings;
  try {
    return { ...settings, vendorKey: createPublicKey(readFileSync(keyPath)) };
  } catch (error) {
    throw new SettingsError(`--license-key-file: ${keyPath} is not a public key that can be read`, {
      cause: error,
    });
  }
}

/** Reads the file of `--subscription-config`; without one, the defaults. Throws SettingsError that names file and fields. */
export function readSubscriptionConfig({ configPath: path }: Settings["subscription"]): SubscriptionSettings {
  if (path === undefined) return readSubscriptionSettings({});
  try {
    return readSubscriptionSettings(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    throw new SettingsError(`--subscription-config: ${path}: ${problemOf(error)}`, { cause: error });
  }
}

function problemOf(error: unknown): string {
  if (error instanceof SubscriptionSettingsError) return error.message;
  return error instanceof SyntaxError ? "not JSON" : "cannot be read";
}
