import { type Bundle, bundle, type ClusterBundle, clusterBundle } from "@quartermaster/api";

import { type Cluster, connect } from "../cluster/connect.ts";
import type { Command } from "../command.ts";
import { exitCode } from "../errors.ts";
import { clusterOptions } from "../input/invocation.ts";
import { print } from "../output/print.ts";

/** Shows the bundles that pods of a namespace can get, and what is wrong with them. */
export const bundleStatusCommand: Command = {
  name: "bundle status",
  summary: "show the Bundles of a namespace and all ClusterBundles, with their problems",
  operands: "",
  options: {
    ...clusterOptions,
    namespace: {
      type: "string",
      short: "n",
      describe: "namespace of the Bundles (default: the namespace of the context)",
    },
  },
  run: async (invocation, context) => {
    await using cluster = await connect(invocation, context);
    const states = await statesOf(cluster, context.signal);
    const text = states.length === 0 ? "no bundles found" : states.map((state) => textOf(state)).join("\n");
    print(context.terminal, invocation.format, { data: states, text });
    return states.every(({ isReady }) => isReady) ? exitCode.ok : exitCode.notReady;
  },
};

interface BundleState {
  readonly kind: string;
  readonly name: string;
  readonly isReady: boolean;
  readonly problems: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
}

async function statesOf(
  { client, namespace }: Cluster,
  signal: AbortSignal,
): Promise<readonly BundleState[]> {
  const [bundles, clusterBundles] = await Promise.all([
    Array.fromAsync(client.list(bundle.kind, { namespace, signal })),
    Array.fromAsync(client.list(clusterBundle.kind, { signal })),
  ]);
  return [
    ...bundles.map((each) => stateOf("Bundle", each)),
    ...clusterBundles.map((each) => stateOf("ClusterBundle", each)),
  ];
}

/** What says that all is well, or only repeats another condition. */
const summaries: readonly string[] = ["Ready", "Reconciling", "Stalled"];

function stateOf(kind: string, { metadata, status }: Bundle | ClusterBundle): BundleState {
  const conditions = status?.conditions ?? [];
  const isCurrent = status?.observedGeneration === metadata.generation;
  const isReady = isCurrent && conditions.some(({ type, status: is }) => type === "Ready" && is === "True");
  const problems = conditions
    .filter(({ type, status: is }) => is === "True" && !summaries.includes(type))
    .map(({ type, reason, message }) => ({ type, reason, message }));
  const ready = conditions.find(({ type }) => type === "Ready");
  // A reason that no condition of its own has, e.g. a missing permission of the operator.
  if (!isReady && ready !== undefined && !problems.some(({ reason }) => reason === ready.reason))
    problems.unshift({ type: ready.type, reason: ready.reason, message: ready.message });
  if (conditions.length === 0) problems.push({ type: "Ready", reason: "Unknown", message: noStatus });
  return { kind, name: metadata.name, isReady, problems };
}

const noStatus =
  "No operator has reported on it. Check that the domain subscription runs and has its permissions: kubectl -n quartermaster get pods, docs/guides/install.md.";

function textOf({ kind, name, isReady, problems }: BundleState): string {
  const lines = problems.map(({ type, reason, message }) => `  ${type}: ${reason}: ${message}`);
  return [`${kind} ${name}  ${isReady ? "Ready" : "not ready"}`, ...lines].join("\n");
}
