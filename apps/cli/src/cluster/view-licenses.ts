import {
  type LicenseState,
  type LicensingSettings,
  licensingSettings,
  readLicenseState,
} from "@quartermaster/licensing";

import type { CommandContext } from "../command.ts";
import { clusterOptions, type Invocation, type OptionSpecs } from "../input/invocation.ts";
import { type Cluster, connect } from "./connect.ts";

/** Options of commands that look at all licenses. */
export const licenseOptions: OptionSpecs = {
  ...clusterOptions,
  namespace: {
    type: "string",
    short: "n",
    describe: "namespace of the cluster (default: that of the context)",
  },
  "license-namespace": {
    type: "string",
    describe: "namespace of the EnterpriseLicenses, as the operator has it (default: quartermaster-licenses)",
  },
};

export interface LicenseView {
  readonly state: LicenseState;
  readonly settings: LicensingSettings;
  readonly nowMs: number;
  /** Namespace that the user means. */
  readonly namespace: string;
}

/** Reads all licenses, clusters and associations once. */
export async function viewLicenses(invocation: Invocation, context: CommandContext): Promise<LicenseView> {
  await using cluster: Cluster = await connect(invocation, context);
  const licenseNamespace = invocation.text("license-namespace") ?? licensingSettings.licenseNamespace;
  const state = await readLicenseState(cluster.client, { licenseNamespace, signal: context.signal });
  return {
    state,
    settings: { ...licensingSettings, licenseNamespace },
    nowMs: context.system.wallMs(),
    namespace: cluster.namespace,
  };
}
