import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import {
  type AuditMark,
  eventually,
  joinSharedCluster,
  makeNamespace,
  type SharedCluster,
} from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

const launcher = fileURLToPath(new URL("../support/election-launcher.ts", import.meta.url));

interface Said {
  readonly what: string;
  readonly identity: string;
  readonly atMs: number;
}

/** A candidate in a process of its own. */
interface Candidate extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly said: Said[];
}

function launch(cluster: SharedCluster, namespace: string, identity: string): Candidate {
  const child = spawn(process.execPath, [launcher, cluster.kubeconfigPath, namespace, identity], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: Said[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => said.push(JSON.parse(line) as Said));
  return {
    process: child,
    said,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    },
  };
}

async function leads({ said }: Candidate, withinMs: number): Promise<number> {
  const start = await eventually((see) => see(said).findLast(({ what }) => what === "start"), {
    withinMs,
    everyMs: 20,
  });
  return start.atMs;
}

interface Write {
  readonly identity: string;
  readonly atMs: number;
}

/** Who changed the ConfigMap and when, as the API server has it on record. */
async function writesTo(
  cluster: SharedCluster,
  since: AuditMark,
  namespace: string,
): Promise<readonly Write[]> {
  const entries = await cluster.audit.since(since, { namespace, resource: "configmaps", verbs: ["patch"] });
  return entries
    .filter(({ code, name }) => code < 300 && name === "world")
    .map(({ userAgent, atMs }) => ({ identity: userAgent.replace("election/", ""), atMs }));
}

/** The holders in the order of their writes; a holder that appears twice wrote in two terms. */
function termsOf(writes: readonly Write[]): readonly string[] {
  const inOrder = writes.toSorted((one, other) => one.atMs - other.atMs).map(({ identity }) => identity);
  return inOrder.filter((identity, index) => identity !== inOrder[index - 1]);
}

/** What one wrote after the other had begun to. */
function lateIn(writes: readonly Write[], identity: string): readonly Write[] {
  const firstOther = Math.min(
    ...writes.filter((write) => write.identity !== identity).map(({ atMs }) => atMs),
  );
  return writes.filter((write) => write.identity === identity && write.atMs > firstOther);
}

describe("two replicas", () => {
  test("[runtime/RT-09] hand over within 3 s on SIGTERM, and write one after the other", async () => {
    using cluster = joinSharedCluster();
    const begin = await cluster.audit.mark();
    await using namespace = await makeNamespace(cluster.api, "election");
    await using first = launch(cluster, namespace.name, "first");
    await leads(first, 30_000);
    await using second = launch(cluster, namespace.name, "second");
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(second.said).toEqual([]);
    const askedMs = Date.now();
    first.process.kill("SIGTERM");
    const ledMs = await leads(second, 30_000);
    expect(ledMs - askedMs).toBeLessThanOrEqual(3_000);
    await eventually(() => first.process.exitCode !== null);
    expect(first.process.exitCode).toBe(0);
    await eventually(async () => termsOf(await writesTo(cluster, begin, namespace.name)).length === 2);
    expect(termsOf(await writesTo(cluster, begin, namespace.name))).toEqual(["first", "second"]);
  });

  test("[runtime/RT-09] take over within 20 s when the leader is killed, and write one after the other", async () => {
    using cluster = joinSharedCluster();
    const begin = await cluster.audit.mark();
    await using namespace = await makeNamespace(cluster.api, "election");
    await using first = launch(cluster, namespace.name, "first");
    await leads(first, 30_000);
    await using second = launch(cluster, namespace.name, "second");
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const killedMs = Date.now();
    first.process.kill("SIGKILL");
    const ledMs = await leads(second, 40_000);
    expect(ledMs - killedMs).toBeLessThanOrEqual(20_000);
    await eventually(async () => termsOf(await writesTo(cluster, begin, namespace.name)).length === 2);
    expect(termsOf(await writesTo(cluster, begin, namespace.name))).toEqual(["first", "second"]);
  });

  test("[runtime/RT-10] make no write after the leader's loop was blocked for 20 s until it holds the lease again", async () => {
    using cluster = joinSharedCluster();
    const begin = await cluster.audit.mark();
    await using namespace = await makeNamespace(cluster.api, "election");
    await using first = launch(cluster, namespace.name, "first");
    await leads(first, 30_000);
    await using second = launch(cluster, namespace.name, "second");
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    first.process.kill("SIGUSR2");
    await leads(second, 40_000);
    await eventually(() => first.said.some(({ what }) => what === "awake"), { withinMs: 30_000 });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const awakeMs = first.said.find(({ what }) => what === "awake")?.atMs ?? 0;
    const writes = await writesTo(cluster, begin, namespace.name);
    const story = JSON.stringify({
      said: first.said,
      late: lateIn(writes, "first").map(({ atMs }) => atMs - awakeMs),
    });
    expect(termsOf(writes), story).toEqual(["first", "second"]);
    expect(writes.filter(({ identity, atMs }) => identity === "first" && atMs > awakeMs)).toEqual([]);
    expect(first.said.map(({ what }) => what)).toEqual(["start", "blocking", "awake", "stop"]);
  });
});
