import { createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";

import { type LicensingSettings, licensingSettings } from "@quartermaster/licensing";

import { SettingsError } from "./settings-error.ts";
import type { Settings } from "./settings.ts";

/** The settings of licensing, with the key of `--license-key-file`. Throws SettingsError that names the file. */
export function readLicensingConfig({
  licenseNamespace,
  licenseKeyPath: path,
}: Pick<Settings, "licenseNamespace" | "licenseKeyPath">): LicensingSettings {
  const settings = { ...licensingSettings, licenseNamespace };
  return path === undefined ? settings : { ...settings, vendorKey: readKey(path) };
}

function readKey(path: string): KeyObject {
  try {
    return createPublicKey(readFileSync(path));
  } catch (error) {
    throw new SettingsError(`--license-key-file: ${path} is not a public key that can be read`, {
      cause: error,
    });
  }
}
