import {
  isDnsLabel,
  isDnsSubdomain,
  type Packed,
  pack,
  type PackOptions,
  type WantedStage,
} from "@quartermaster/install-plan/offline";

import { applyPacked } from "../cluster/apply-packed.ts";
import { connect } from "../cluster/connect.ts";
import type { Command, CommandContext } from "../command.ts";
import { type ExitCode, exitCode, usageError } from "../errors.ts";
import { clusterOptions, type Invocation } from "../input/invocation.ts";
import { type InputReading, readInput } from "../input/read-input.ts";
import { print, toJson, toYaml } from "../output/print.ts";

/** Makes an InstallPlan of manifests; works without a cluster unless it is to apply the plan. */
export const packCommand: Command = {
  name: "pack",
  summary: "create an InstallPlan from manifests",
  operands: "<file | directory | ->…",
  options: {
    name: { type: "string", describe: "name of the plan (required)" },
    "service-account": {
      type: "string",
      describe: "service account that the plan uses (default: default)",
    },
    stage: {
      type: "string",
      multiple: true,
      describe:
        "<stage>=<Kind>[/<name>][,…]: put these objects in a stage after the default stages; names may contain *",
    },
    secrets: {
      type: "string",
      describe: "how to store Secrets: inline, or secretRef to keep them out of the plan (default: inline)",
    },
    scope: { type: "string", describe: "Namespace or Cluster (default: determined by the objects)" },
    manual: { type: "boolean", describe: "require approval with qm plan approve" },
    replaces: { type: "string", multiple: true, describe: "plan that this plan replaces" },
    apply: { type: "boolean", describe: "create the plan and the objects it references" },
    ...clusterOptions,
    namespace: {
      type: "string",
      short: "n",
      describe: "namespace of the plan (default: default; with --apply: the namespace of the context)",
    },
  },
  run: async (invocation, context) => {
    if (invocation.positionals.length === 0)
      throw usageError("specify a file, a directory or - for standard input");
    const options = packOptions(invocation);
    const input = await readInput(invocation.positionals, context.readStandardInput);
    if (invocation.flag("apply")) return await packAndApply(input, options, { invocation, context });
    const packed = pack(input.documents, options);
    if (hasProblems(packed, input, context)) return exitCode.failed;
    show(packed, invocation, context);
    return exitCode.ok;
  },
};

interface Environment {
  readonly invocation: Invocation;
  readonly context: CommandContext;
}

async function packAndApply(
  input: InputReading,
  options: PackOptions,
  { invocation, context }: Environment,
): Promise<ExitCode> {
  await using cluster = await connect(invocation, context);
  const packed = pack(input.documents, { ...options, namespace: cluster.namespace });
  if (hasProblems(packed, input, context)) return exitCode.failed;
  const made = await applyPacked(packed, cluster, context);
  const text = `created InstallPlan ${made.metadata.namespace ?? ""}/${made.metadata.name}`;
  print(context.terminal, invocation.format, { data: made, text });
  return exitCode.ok;
}

/** Tells warnings and everything that is wrong, all at once. */
function hasProblems(
  { warnings, issues }: Packed,
  { documents, problems }: InputReading,
  { terminal }: CommandContext,
): boolean {
  const isUnread = documents.length === 0 && problems.length > 0;
  const wrong = isUnread ? problems : [...problems, ...issues.map(({ message }) => message)];
  for (const warning of warnings) terminal.note(`warning: ${warning}`);
  for (const line of wrong) terminal.note(`error: ${line}`);
  return wrong.length > 0;
}

function packOptions(invocation: Invocation): PackOptions {
  const name = invocation.text("name");
  const namespace = invocation.text("namespace");
  const secrets = invocation.text("secrets") ?? "inline";
  if (name === undefined) throw usageError("required flag --name not set");
  if (secrets !== "inline" && secrets !== "secretRef")
    throw usageError("--secrets must be inline or secretRef");
  const replaces = invocation.list("replaces").map((plan) => dnsName("--replaces", plan));
  if (replaces.includes(name))
    throw usageError(`--replaces ${name}: a plan cannot replace itself; choose another --name`);
  return {
    name: dnsName("--name", name),
    ...(namespace === undefined ? {} : { namespace: dnsLabel("--namespace", namespace) }),
    serviceAccountName: dnsLabel("--service-account", invocation.text("service-account") ?? "default"),
    secrets,
    ...scopeOf(invocation),
    stages: invocation.list("stage").map((args) => wantedStage(args)),
    replaces,
    ...(invocation.flag("manual") ? { approval: "Manual" } : {}),
  };
}

function scopeOf(invocation: Invocation): Pick<PackOptions, "scope"> {
  const scope = invocation.text("scope");
  if (scope === undefined) return {};
  if (scope === "Namespace" || scope === "Cluster") return { scope };
  throw usageError("--scope must be Namespace or Cluster");
}

function wantedStage(args: string): WantedStage {
  const [name = "", selection = ""] = args.split("=", 2);
  if (name === "" || selection === "")
    throw usageError(`--stage ${args}: must be <stage>=<Kind>[/<name>][,…]`);
  return { name: dnsLabel("--stage", name), select: selection.split(",") };
}

function dnsName(flag: string, name: string): string {
  if (isDnsSubdomain(name)) return name;
  throw usageError(`${flag} ${name}: must be a DNS subdomain: lowercase letters, digits, dashes and dots`);
}

function dnsLabel(flag: string, name: string): string {
  if (isDnsLabel(name)) return name;
  throw usageError(`${flag} ${name}: must be a DNS label: at most 63 lowercase letters, digits and dashes`);
}

/** Everything in the order in which it must be applied; as JSON one List that kubectl takes. */
function show(
  { secrets, manifests, plan }: Packed,
  { format }: Invocation,
  { terminal }: CommandContext,
): void {
  const items = [...secrets, ...manifests, plan];
  if (format === "json") terminal.write(toJson({ apiVersion: "v1", kind: "List", items }));
  else terminal.write(items.map((item) => toYaml(item).trimEnd()).join("\n---\n"));
}
