import type { KeyObject } from "node:crypto";

import { type LicenseParameters, licenseParameters } from "@quartermaster/license-selection";

/** How licenses are handed out. */
export interface LicensingSettings {
  /** The only namespace whose EnterpriseLicenses are honoured, and whose Secrets are read. */
  readonly licenseNamespace: string;
  /** The vendor's key; without it signatures are not verified here, but by the engine alone. */
  readonly vendorKey?: KeyObject | undefined;
  readonly parameters: LicenseParameters;
}

/** The settings (default: namespace `quartermaster-licenses`, no key). */
export const licensingSettings: LicensingSettings = {
  licenseNamespace: "quartermaster-licenses",
  parameters: licenseParameters,
};
