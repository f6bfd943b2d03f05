import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { type AuditPosition, eventually, type SharedCluster } from "@quartermaster/testkit";

const launcher = fileURLToPath(new URL("./election-launcher.ts", import.meta.url));

/** A line of a candidate. */
export interface Output {
  readonly what: string;
  readonly identity: string;
  readonly atMs: number;
}

/** A candidate in a process of its own. */
export interface Candidate extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly output: Output[];
}

/** Which candidate it is. */
export interface CandidateOptions {
  readonly identity: string;
  /** How far its wall clock is ahead (default: 0). */
  readonly clockAheadMs?: number;
}

/** Starts a candidate that writes into the ConfigMap `world` of its namespace while it leads. */
export function launch(
  { kubeconfigPath }: Pick<SharedCluster, "kubeconfigPath">,
  namespace: string,
  { identity, clockAheadMs = 0 }: CandidateOptions,
): Candidate {
  const args = [launcher, kubeconfigPath, namespace, identity, String(clockAheadMs)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const output: Output[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => output.push(JSON.parse(line) as Output));
  return {
    process: child,
    output,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    },
  };
}

/** The moment at which a candidate began to lead. */
export async function leads({ output }: Candidate, withinMs: number): Promise<number> {
  const start = await eventually((see) => see(output).findLast(({ what }) => what === "start"), {
    withinMs,
    everyMs: 20,
  });
  return start.atMs;
}

/** One write of a leader. */
export interface Write {
  readonly identity: string;
  readonly atMs: number;
}

/** Who changed the ConfigMap and when, as the API server has it on record. */
export async function writesTo(
  cluster: SharedCluster,
  since: AuditPosition,
  namespace: string,
): Promise<readonly Write[]> {
  const entries = await cluster.audit.since(since, { namespace, resource: "configmaps", verbs: ["patch"] });
  return entries
    .filter(({ code, name }) => code < 300 && name === "world")
    .map(({ userAgent, atMs }) => ({ identity: userAgent.replace("election/", ""), atMs }));
}

/** The holders in the order of their writes; a holder that appears twice wrote in two terms. */
export function termsOf(writes: readonly Write[]): readonly string[] {
  const inOrder = writes.toSorted((one, other) => one.atMs - other.atMs).map(({ identity }) => identity);
  return inOrder.filter((identity, index) => identity !== inOrder[index - 1]);
}

export function lateIn(writes: readonly Write[], identity: string): readonly Write[] {
  const firstOther = Math.min(
    ...writes.filter((write) => write.identity !== identity).map(({ atMs }) => atMs),
  );
  return writes.filter((write) => write.identity === identity && write.atMs > firstOther);
}
