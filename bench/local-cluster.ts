import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ComponentUsage, LocalClusterOptions } from "@quartermaster/local-cluster";
import { startLocalCluster } from "@quartermaster/local-cluster";

import type { Row, Section } from "./table.ts";
import { median, megabytes, seconds } from "./table.ts";

const RUNS = 3;

/** How long a cluster takes to start and to end, and what it takes of the machine. */
export async function benchLocalCluster({ isCold }: { readonly isCold: boolean }): Promise<Section> {
  const rows: Row[] = isCold ? [await measureColdBuild()] : [];
  await measureOnce({}); // brings the binaries into the page cache, as a second `make up` finds them
  const plain = await measure({});
  rows.push({
    what: "control plane: start to API, account and node ready",
    measured: seconds(plain.startMs),
    bar: "≤ 5 s",
  });
  rows.push({ what: "control plane: stop", measured: seconds(plain.stopMs), bar: "≤ 2 s" });
  const withNode = await measure({ nodes: 1 });
  if (withNode.profile === "nodes") {
    rows.push({
      what: "one real node: start to node Ready",
      measured: seconds(withNode.startMs),
      bar: "≤ 20 s",
    });
    rows.push({ what: "one real node: stop", measured: seconds(withNode.stopMs), bar: "≤ 10 s" });
  }
  const total = withNode.usage.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  rows.push(
    ...withNode.usage.map(({ name, residentBytes }) => ({
      what: `resident: ${name}`,
      measured: megabytes(residentBytes),
    })),
  );
  rows.push({ what: "resident: all of it", measured: megabytes(total) });
  return { title: `local-cluster (median of ${RUNS})`, rows };
}

interface Measured {
  readonly startMs: number;
  readonly stopMs: number;
  readonly profile: string;
  readonly usage: readonly ComponentUsage[];
}

async function measure(options: LocalClusterOptions): Promise<Measured> {
  const runs: Measured[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await measureOnce(options));
  const last = runs[RUNS - 1] ?? (await measureOnce(options));
  return {
    ...last,
    startMs: median(runs.map(({ startMs }) => startMs)),
    stopMs: median(runs.map(({ stopMs }) => stopMs)),
  };
}

async function measureOnce(options: LocalClusterOptions): Promise<Measured> {
  const begun = performance.now();
  const cluster = await startLocalCluster(options);
  const startMs = performance.now() - begun;
  const { profile } = cluster;
  const usage = cluster.usage();
  const stopping = performance.now();
  await cluster.stop();
  return { startMs, stopMs: performance.now() - stopping, profile, usage };
}

/** Everything from Go modules with no cache at all; takes a quarter of an hour on two cores. */
async function measureColdBuild(): Promise<Row> {
  const home = mkdtempSync(join(tmpdir(), "qm-cold-"));
  const env = { ...process.env, XDG_CACHE_HOME: home, GOCACHE: join(home, "go"), QM_ASSETS_OFFLINE: "1" };
  const main = join(import.meta.dirname, "../packages/local-cluster/src/command/main.ts");
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, [main, "build"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const elapsed = performance.now() - begun;
  rmSync(home, { recursive: true, force: true });
  if (status !== 0) throw new Error(`the build ended with ${String(status)}`);
  return await Promise.resolve({ what: "cold build of all nine binaries", measured: seconds(elapsed) });
}
