import { type InstallPlan, installPlan } from "@quartermaster/api";

import { connect } from "../cluster/connect.ts";
import type { Command } from "../command.ts";
import { exitCode } from "../errors.ts";
import { clusterOptions } from "../input/invocation.ts";
import { cleanText } from "../output/clean-text.ts";
import { print } from "../output/print.ts";
import { isReady } from "../render/status-tree.ts";
import { table } from "../render/table.ts";

/** Lists plans with their phases and what they wait for. */
export const planListCommand: Command = {
  name: "plan list",
  summary: "list the plans of a namespace, or of all, with their phases and what they wait for",
  operands: "",
  options: {
    "all-namespaces": { type: "boolean", short: "A", describe: "list the plans of all namespaces" },
    ...clusterOptions,
    namespace: {
      type: "string",
      short: "n",
      describe: "namespace of the plans (default: the namespace of the context)",
    },
  },
  run: async (invocation, context) => {
    await using cluster = await connect(invocation, context);
    const isEverywhere = invocation.flag("all-namespaces");
    const { signal } = context;
    const location = isEverywhere ? {} : { namespace: cluster.namespace };
    const plans = await Array.fromAsync(cluster.client.list(installPlan.kind, { ...location, signal }));
    const entries = plans.map(entryOf).toSorted(byName);
    const text =
      entries.length === 0
        ? "no plans found"
        : table([head, ...entries.map(rowOf)].map((row) => row.slice(isEverywhere ? 0 : 1)));
    print(context.terminal, invocation.format, { data: entries, text });
    return exitCode.ok;
  },
};

interface PlanEntry {
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly isReady: boolean;
  readonly replaces: readonly string[];
  readonly message: string;
}

const head = ["NAMESPACE", "NAME", "PHASE", "READY", "REPLACES", "MESSAGE"];

function entryOf(plan: InstallPlan): PlanEntry {
  const { metadata, spec, status } = plan;
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    phase: status?.phase ?? "not observed yet",
    isReady: isReady(plan),
    replaces: (spec.replaces?.plans ?? []).map(({ name }) => name),
    message: cleanText(status?.message ?? "", 120),
  };
}

function rowOf({ namespace, name, phase, isReady: is, replaces, message }: PlanEntry): readonly string[] {
  return [namespace, name, phase, is ? "yes" : "no", replaces.join(","), message];
}

function byName(one: PlanEntry, other: PlanEntry): number {
  const key = ({ namespace, name }: PlanEntry): string => `${namespace}/${name}`;
  return key(one).localeCompare(key(other), "en");
}
