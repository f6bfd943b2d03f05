import { classify, pause } from "@quartermaster/runtime";

import { type Cluster, connect } from "../cluster/connect.ts";
import { actingOperators, finalizersWithoutOurs, nameOf, type OwnObject } from "../cluster/own-object.ts";
import { kindOf, operatorLeases, ownObjects } from "../cluster/own-objects.ts";
import type { Command, CommandContext } from "../command.ts";
import { CliError, exitCode, type ExitCode } from "../errors.ts";
import { clusterOptions, type Invocation, timeoutMs } from "../input/invocation.ts";
import { print } from "../output/print.ts";

const { namespace: _, ...options } = clusterOptions;

/** Releases all workloads before the operator is removed, or lets objects go whose operator is gone. */
export const uninstallCommand: Command = {
  name: "uninstall",
  summary: "release all workloads before the operator is removed, or free what waits for a removed operator",
  operands: "",
  options: {
    "dry-run": { type: "boolean", describe: "only list what would be done" },
    "release-finalizers": {
      type: "boolean",
      describe:
        "the operator is removed already: take its finalizers from its own kinds, so that they can be deleted",
    },
    timeout: { type: "string", describe: "stop waiting after this many seconds (default: 120)" },
    ...options,
  },
  run: async (invocation, context) => {
    await using cluster = await connect(invocation, context);
    const acting = actingOperators(await operatorLeases(cluster, context.signal), context.system.wallMs());
    const isRelease = invocation.flag("release-finalizers");
    if (isRelease && acting.length > 0)
      throw new CliError(
        `the operator in namespace ${acting.join(" and ")} runs; without --release-finalizers it releases the workloads properly`,
      );
    if (!isRelease && acting.length === 0)
      throw new CliError(
        "no operator runs that could release the workloads; install it again, or use --release-finalizers if that is not possible",
      );
    const work = { cluster, context, invocation };
    return isRelease ? await releaseFinalizers(work) : await releaseWorkloads(work);
  },
};

interface Work {
  readonly cluster: Cluster;
  readonly context: CommandContext;
  readonly invocation: Invocation;
}

/** Objects stay, and can be deleted from now on. What they installed stays too, with our labels. */
async function releaseFinalizers({ cluster, context, invocation }: Work): Promise<ExitCode> {
  const isDryRun = invocation.flag("dry-run");
  const lines: string[] = [];
  for (let isLeft = true; isLeft;) {
    isLeft = false;
    for (const object of await ownObjects(cluster, context.signal)) {
      const kept = finalizersWithoutOurs(object);
      if (kept === undefined) continue;
      // One that another client changed meanwhile is read again.
      const isDone = isDryRun || (await replaceFinalizers(object, kept, { cluster, context }));
      if (isDone)
        lines.push(`${isDryRun ? "would release" : "released"} ${nameOf(object)}${stateOf(object)}`);
      else isLeft = true;
    }
  }
  report({ context, invocation }, lines, [
    "Nothing else is changed: what these objects installed keeps running.",
  ]);
  return exitCode.ok;
}

function stateOf({ isBeingDeleted }: OwnObject): string {
  return isBeingDeleted ? ", which is being deleted" : "";
}

/** Only while the object is the one that was listed: a finalizer that another client added meanwhile must stay. */
async function replaceFinalizers(
  object: OwnObject,
  finalizers: readonly string[],
  { cluster, context }: Pick<Work, "cluster" | "context">,
): Promise<boolean> {
  const { uid, resourceVersion } = object;
  try {
    await cluster.client.patch(kindOf(object), object, {
      signal: context.signal,
      isMetadataEnough: true,
      patch: { kind: "merge", body: { metadata: { uid, resourceVersion, finalizers } } },
    });
    return true;
  } catch (error) {
    const code = classify(error);
    if (code === "conflict") return false;
    if (code === "notFound") return true;
    throw error;
  }
}

async function releaseWorkloads({ cluster, context, invocation }: Work): Promise<ExitCode> {
  const { signal, system } = context;
  const before = await ownObjects(cluster, signal);
  const lines = before.map(
    (object) => `${object.role === "released" ? "release" : "delete"} ${nameOf(object)}`,
  );
  if (invocation.flag("dry-run")) {
    report(
      { context, invocation },
      lines.map((line) => `would ${line}`),
      remaining,
    );
    return exitCode.ok;
  }
  const end = system.monotonicMs() + timeoutMs(invocation, 120_000);
  for (const role of ["released", "deleted"] as const) {
    for (const object of before.filter((each) => each.role === role))
      await remove(object, { cluster, context });
    while ((await ownObjects(cluster, signal)).some((each) => each.role === role)) {
      if (system.monotonicMs() > end) return await reportWaiting({ cluster, context, invocation });
      await pause(system, 1_000, signal);
    }
  }
  report(
    { context, invocation },
    lines.map((line) => line.replace(/^(release|delete)/, "$1d")),
    remaining,
  );
  return exitCode.ok;
}

async function remove(
  object: OwnObject,
  { cluster, context }: Pick<Work, "cluster" | "context">,
): Promise<void> {
  const { role, uid } = object;
  await cluster.client.deleteIfPresent(kindOf(object), object, {
    signal: context.signal,
    propagation: role === "released" ? "Orphan" : "Background",
    preconditions: { uid },
    skipIfChanged: true,
  });
}

async function reportWaiting({ cluster, context, invocation }: Work): Promise<ExitCode> {
  const left = await ownObjects(cluster, context.signal);
  report(
    { context, invocation },
    left.map((object) => `waiting for ${nameOf(object)}`),
    ["qm plan explain and qm search explain say what they wait for. Run this command again to continue."],
  );
  return exitCode.notReady;
}

/** What the command leaves, because it was installed by others. */
const remaining: readonly string[] = [
  "Workloads, volumes, Secrets and namespaces stay.",
  "Next: helm uninstall quartermaster --namespace quartermaster --wait; then delete the definitions, see docs/guides/uninstall.md.",
];

function report(
  { context, invocation }: Pick<Work, "context" | "invocation">,
  lines: readonly string[],
  notes: readonly string[],
): void {
  const text = [...(lines.length === 0 ? ["nothing to do"] : lines), ...notes].join("\n");
  print(context.terminal, invocation.format, { data: { actions: lines, notes }, text });
}
