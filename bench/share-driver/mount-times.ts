import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { LocalCluster } from "@quartermaster/local-cluster";

import { kubectl } from "./kubectl.ts";

/** What mounting the volumes of some pods took, by kubelet's own log and metrics. */
export interface MountTimes {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly meanMs: number;
  /** From the first start of a mount to the last end. */
  readonly allMs: number;
}

/** Kubelet's histogram has bounds at 100, 250, 500 and 1,000 ms: far too coarse for a ratio. Its log has microseconds. */
export async function logMounts(cluster: LocalCluster): Promise<void> {
  const node = cluster.nodes[0]?.name ?? "";
  await kubectl(cluster, ["replace", "--raw", `/api/v1/nodes/${node}/proxy/debug/flags/v`, "-f", "-"], "1");
}

/** The times of the pods whose names begin with the prefix. Throws unless there are as many as there should be. */
export function readMountTimes(cluster: LocalCluster, prefix: string, count: number): MountTimes {
  const started = new Map<string, number>();
  const ended = new Map<string, number>();
  for (const line of kubeletLog(cluster).split("\n")) {
    const pod = /pod="default\/([^"]+)"/.exec(line)?.[1];
    if (pod?.startsWith(prefix) !== true) continue;
    // A mount that was tried again began with its first try.
    if (line.includes("operationExecutor.MountVolume started") && !started.has(pod))
      started.set(pod, timeOf(line));
    if (line.includes("MountVolume.SetUp succeeded")) ended.set(pod, timeOf(line));
  }
  const times = [...ended].map(([pod, endMs]) => endMs - (started.get(pod) ?? Number.NaN));
  if (times.length !== count) throw new Error(`${times.length} of ${count} mounts are in kubelet's log`);
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * count) - 1] ?? Number.NaN;
  return {
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    meanMs: times.reduce((sum, each) => sum + each, 0) / count,
    allMs: Math.max(...ended.values()) - Math.min(...started.values()),
  };
}

function kubeletLog(cluster: LocalCluster): string {
  const directory = join(cluster.directory, "logs");
  const name = readdirSync(directory).find((each) => each.includes("kubelet"));
  if (name === undefined) throw new Error("there is no log of kubelet");
  return readFileSync(join(directory, name), "utf8");
}

/** `I1117 15:04:11.123456 …`; midnight does not matter to a benchmark. */
function timeOf(line: string): number {
  const [, hours = "", minutes = "", seconds = ""] = /^I\d{4} (\d\d):(\d\d):(\d\d\.\d+)/.exec(line) ?? [];
  return 1000 * (3600 * Number(hours) + 60 * Number(minutes) + Number(seconds));
}

/** Mean of one call to a CSI driver as kubelet sees it, and how many there were. */
export interface CallTimes {
  readonly count: number;
  readonly sumMs: number;
}

/** All calls of a method to a driver since kubelet's start. */
export async function readCallTimes(
  cluster: LocalCluster,
  driver: string,
  method: string,
): Promise<CallTimes> {
  const node = cluster.nodes[0]?.name ?? "";
  const text = await kubectl(cluster, ["get", "--raw", `/api/v1/nodes/${node}/proxy/metrics`]);
  const lines = text.split("\n").filter((line) => line.includes(driver) && line.includes(`/${method}"`));
  const valueOf = (suffix: string): number =>
    lines
      .filter((line) => line.startsWith(`csi_operations_seconds_${suffix}{`))
      .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  return { count: valueOf("count"), sumMs: 1000 * valueOf("sum") };
}
