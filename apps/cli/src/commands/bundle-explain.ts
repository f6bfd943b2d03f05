import { fieldOf, isJsonObject, type JsonObject, textOf } from "@quartermaster/runtime";
import { explainInjection, type InjectionExplanation } from "@quartermaster/subscription";

import { connect } from "../cluster/connect.ts";
import { subscriptionSettings } from "../cluster/subscription-settings.ts";
import type { Command, CommandContext } from "../command.ts";
import { CliError, exitCode, usageError } from "../errors.ts";
import { clusterOptions } from "../input/invocation.ts";
import { readInput } from "../input/read-input.ts";
import { print } from "../output/print.ts";

/** Says which bundles a pod would get, and why not. */
export const bundleExplainCommand: Command = {
  name: "bundle explain",
  summary: "explain which bundles a pod would get, without creating it",
  operands: "",
  options: {
    file: {
      type: "string",
      short: "f",
      describe: "file with a Pod, or with a Deployment or another workload; - for standard input",
    },
    "subscription-config": {
      type: "string",
      describe:
        "file with the operator's settings of injection (default: those of the operator in the cluster)",
    },
    "operator-namespace": {
      type: "string",
      describe: "where the operator is installed (default: quartermaster)",
    },
    ...clusterOptions,
    namespace: {
      type: "string",
      short: "n",
      describe: "namespace of the pod (default: that of the file, or else of the context)",
    },
  },
  run: async (invocation, context) => {
    const file = invocation.text("file");
    if (file === undefined) throw usageError("required flag --file not set");
    const { pod, workload, title, namespace: stated } = await podOfFile(file, context);
    await using cluster = await connect(invocation, context);
    const namespace = invocation.text("namespace") ?? stated ?? cluster.namespace;
    const { system, signal } = context;
    const { client } = cluster;
    const settings = await subscriptionSettings({
      file: invocation.text("subscription-config"),
      operatorNamespace: invocation.text("operator-namespace") ?? "quartermaster",
      client,
      signal,
      note: (text) => {
        context.terminal.note(`note: ${text}`);
      },
    });
    const explanation = await explainInjection(pod, {
      client,
      namespace,
      system,
      signal,
      settings,
      workload,
    });
    const text = explanationText(`${title} in namespace ${namespace}`, explanation);
    print(context.terminal, invocation.format, { data: explanation, text });
    return explanation.result === "rejected" ? exitCode.failed : exitCode.ok;
  },
};

interface PodInFile {
  readonly pod: JsonObject;
  /** What describes the pod; undefined for a Pod. */
  readonly workload: JsonObject | undefined;
  readonly title: string;
  readonly namespace: string | undefined;
}

async function podOfFile(file: string, { readStandardInput }: CommandContext): Promise<PodInFile> {
  const { documents, problems } = await readInput([file], readStandardInput);
  if (problems.length > 0) throw new CliError(problems.join("\n"));
  const pods = documents.flatMap(({ value }) => podIn(value) ?? []);
  const [first, ...others] = pods;
  if (first === undefined) throw new CliError(`${file}: no pod and no workload found`, exitCode.notFound);
  if (others.length === 0) return first;
  const titles = pods.map(({ title }) => title).join(", ");
  throw new CliError(`${file}: there are several pods in it: ${titles}; give a file with one of them`);
}

/** A Pod, or the pod that a workload describes. */
function podIn(object: unknown): PodInFile | undefined {
  const kind = textOf(object, "kind") ?? "";
  const spec = fieldOf(object, "spec");
  const template =
    fieldOf(fieldOf(fieldOf(spec, "jobTemplate"), "spec"), "template") ?? fieldOf(spec, "template");
  const pod = kind === "Pod" ? object : template;
  if (!isJsonObject(pod) || !isJsonObject(object)) return undefined;
  const metadata = fieldOf(object, "metadata");
  const title = `${kind} ${textOf(metadata, "name") ?? "without a name"}`;
  const workload = kind === "Pod" ? undefined : object;
  return { pod, workload, title, namespace: textOf(metadata, "namespace") };
}

function explanationText(title: string, explanation: InjectionExplanation): string {
  const { result, message, warnings, patch } = explanation;
  const changes = patch.map(({ op, path, ...rest }) => {
    const value = "value" in rest ? ` ${JSON.stringify(rest.value)}` : "";
    return `  ${op} ${path}${value}`;
  });
  return [
    `${title}: ${outcomes[result]}`,
    ...(message === "" ? [] : [`  ${message}`]),
    ...warnings.map((warning) => `  warning: ${warning}`),
    ...changes,
  ].join("\n");
}

const outcomes = {
  injected: "gets its bundles",
  skipped: "gets no bundle",
  rejected: "would be rejected",
} as const;
