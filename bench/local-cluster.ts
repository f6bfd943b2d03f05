import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import type { ComponentUsage, LocalClusterOptions } from "@quartermaster/local-cluster";
import { startLocalCluster } from "@quartermaster/local-cluster";

import type { Row, Section } from "./table.ts";
import { median, megabytes, seconds } from "./table.ts";

const RUNS = 3;

/** How long a cluster takes to start and to end, and what it takes of the machine. */
export async function benchLocalCluster({ isCold }: { readonly isCold: boolean }): Promise<Section> {
  const rows: Row[] = isCold ? [...(await measureColdUp())] : [];
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

/** `make up` with no cache at all, neither ours nor Go's. Modules are there: how fast they come is not ours to measure. */
async function measureColdUp(): Promise<readonly Row[]> {
  const home = mkdtempSync(join(tmpdir(), "qm-cold-"));
  const env = { ...process.env, XDG_CACHE_HOME: home, GOCACHE: join(home, "go"), QM_ASSETS_OFFLINE: "1" };
  const name = ["--name", "cold"];
  try {
    const { total, sample } = await timeUp(name, env);
    return [
      {
        what: "cold make up: until the sample plan is in the API",
        measured: seconds(sample),
        bar: "≤ 540 s",
      },
      { what: "cold make up: until the sample plan is Ready", measured: seconds(total), bar: "≤ 600 s" },
    ];
  } finally {
    spawnSync(process.execPath, [main("packages/local-cluster/src/command"), "down", ...name], { env });
    rmSync(home, { recursive: true, force: true });
  }
}

function main(directory: string): string {
  return join(import.meta.dirname, "..", directory, "main.ts");
}

async function timeUp(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly total: number; readonly sample: number }> {
  const begun = performance.now();
  const child = spawn(process.execPath, [main("tools/up"), ...args], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const { promise: ended, resolve, reject } = Promise.withResolvers<number>();
  child.once("error", reject).once("close", (code) => resolve(code ?? 1));
  let sample = Number.NaN;
  for await (const line of createInterface({ input: child.stderr })) {
    if (/^Plan .* is applied/.test(line)) sample = performance.now() - begun;
    process.stderr.write(`${line}\n`);
  }
  const code = await ended;
  if (code !== 0) throw new Error(`make up ended with ${code}`);
  return { total: performance.now() - begun, sample };
}
