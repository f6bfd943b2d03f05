import { clusterLicense, enterpriseLicense } from "@quartermaster/api/licensing";
import { type ExportableLicense, exportLicense } from "@quartermaster/license-selection";
import { secrets } from "@quartermaster/runtime/kinds";

import { type Cluster, connect } from "../cluster/connect.ts";
import type { Command } from "../command.ts";
import { CliError, exitCode, usageError } from "../errors.ts";
import { clusterOptions } from "../input/invocation.ts";
import { print, toJson } from "../output/print.ts";

/** Gives back the vendor's file of a license. */
export const licenseExportCommand: Command = {
  name: "license export",
  summary: "print the vendor's file of an EnterpriseLicense or ClusterLicense, signatures included",
  operands: "<license>",
  options: {
    ...clusterOptions,
    namespace: {
      type: "string",
      short: "n",
      describe: "namespace of the license (default: that of the context)",
    },
  },
  run: async (invocation, context) => {
    const [name] = invocation.positionals;
    if (name === undefined) throw usageError("required operand <license> not set");
    await using cluster = await connect(invocation, context);
    const license = await licenseOf(cluster, name, context.signal);
    const { namespace } = cluster;
    const { signatureRef } = license.spec;
    const secret = await cluster.client.find(
      secrets,
      { namespace, name: signatureRef.name },
      { signal: context.signal },
    );
    if (secret === undefined) throw new CliError(`Secret ${signatureRef.name} not found`, exitCode.notFound);
    const data = Object.entries(secret.data ?? {}).map(([key, value]): [string, string] => [
      key,
      Buffer.from(value, "base64").toString(),
    ]);
    const file = exportLicense(license, Object.fromEntries(data));
    print(context.terminal, invocation.format, { data: file, text: toJson(file) });
    return exitCode.ok;
  },
};

async function licenseOf(
  { client, namespace }: Cluster,
  name: string,
  signal: AbortSignal,
): Promise<ExportableLicense> {
  const enterprise = await client.find(enterpriseLicense.kind, { namespace, name }, { signal });
  if (enterprise !== undefined) return { kind: "EnterpriseLicense", spec: enterprise.spec };
  const single = await client.find(clusterLicense.kind, { namespace, name }, { signal });
  if (single !== undefined) return { kind: "ClusterLicense", spec: single.spec };
  throw new CliError(
    `no EnterpriseLicense or ClusterLicense ${name} in namespace ${namespace}`,
    exitCode.notFound,
  );
}
