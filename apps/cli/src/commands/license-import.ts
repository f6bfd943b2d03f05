import { readFile } from "node:fs/promises";

import { importLicense, readLicenseFile } from "@quartermaster/license-selection";

import type { Command, CommandContext } from "../command.ts";
import { CliError, exitCode, usageError } from "../errors.ts";
import { print, toYaml } from "../output/print.ts";

/** Turns a vendor's file into objects. It speaks to no cluster. */
export const licenseImportCommand: Command = {
  name: "license import",
  summary: "turn a vendor's license file into objects for kubectl apply",
  operands: "<file>",
  options: {
    name: { type: "string", describe: "name of the license (default: pool, or the cluster)" },
    namespace: {
      type: "string",
      short: "n",
      describe: "namespace of the objects (default: quartermaster-licenses, or default with --cluster)",
    },
    cluster: { type: "string", describe: "the file is for this ElasticsearchCluster alone" },
    "accept-eula": { type: "boolean", describe: "accept the terms of a trial (default: false)" },
  },
  run: async (invocation, context) => {
    const [path] = invocation.positionals;
    if (path === undefined) throw usageError("required operand <file> not set");
    const file = readLicenseFile(await textOf(path, context));
    if (file.kind === "unreadable") throw new CliError(`${path}: ${file.message}`);
    const cluster = invocation.text("cluster");
    const isForCluster = cluster !== undefined;
    if (isForCluster !== (file.kind === "stack")) throw wrongKind(path, file.kind);
    const { license, secret } = importLicense(file, {
      name: invocation.text("name") ?? cluster ?? "pool",
      namespace: invocation.text("namespace") ?? (isForCluster ? "default" : "quartermaster-licenses"),
      isEulaAccepted: invocation.flag("accept-eula"),
    });
    const objects = [secret, license];
    const text = objects.map((object) => toYaml(object).trimEnd()).join("\n---\n");
    print(context.terminal, invocation.format, { data: objects, text });
    return exitCode.ok;
  },
};

async function textOf(path: string, { readStandardInput }: CommandContext): Promise<string> {
  if (path === "-") return new TextDecoder().decode(await readStandardInput());
  try {
    return await readFile(path, "utf8");
  } catch {
    throw new CliError(`${path}: cannot be read`, exitCode.notFound);
  }
}

function wrongKind(path: string, kind: "enterprise" | "stack"): CliError {
  return new CliError(
    kind === "stack"
      ? `${path}: WrongLicenseKind: this is a license for one cluster, not an enterprise license; name the cluster with --cluster`
      : `${path}: WrongLicenseKind: this is an enterprise license for many clusters; leave --cluster out`,
  );
}
