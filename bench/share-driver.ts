import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type LocalCluster, startLocalCluster } from "@quartermaster/local-cluster";

import type { BenchOptions, Row, Section } from "./table.ts";
import { seconds, times } from "./table.ts";

const repository = join(import.meta.dirname, "..");
const driver = "projected-resource.storage.openshift.io";
const group = "rbac.authorization.k8s.io";

/** The two ways of having a Secret in a pod, by kubelet's name of the volume plugin. */
const contestants = {
  "kubernetes.io/projected": { projected: { sources: [{ secret: { name: "content" } }] } },
  [`kubernetes.io/csi:${driver}`]: {
    csi: { driver, readOnly: true, volumeAttributes: { share: "content" } },
  },
} as const;

/** How long kubelet takes to mount a volume of the share driver, held against its own projected volume (AC-H14). */
export async function benchShareDriver({ isQuick }: BenchOptions): Promise<Section> {
  const podCount = isQuick ? 10 : 50;
  const images = mkdtempSync(join(tmpdir(), "qm-bench-"));
  const image = join(images, "driver");
  const main = join(repository, "deploy/image/main.ts");
  execFileSync(process.execPath, [main, "--image", "share-driver", "--output", image], { cwd: repository });
  await using cluster = await startLocalCluster({ nodes: 1, images: [image] });
  try {
    await install(cluster);
    await measure(cluster, Object.keys(contestants)[1] ?? "", 5); // both programs are in the page cache then
    const rows: Row[] = [];
    const p95s: number[] = [];
    for (const plugin of Object.keys(contestants)) {
      const { p95Ms, meanMs, allReadyMs } = await measure(cluster, plugin, podCount);
      p95s.push(p95Ms);
      rows.push({ what: `${plugin}: mount, p95`, measured: `${Math.round(p95Ms)} ms` });
      rows.push({ what: `${plugin}: mount, mean`, measured: `${Math.round(meanMs)} ms` });
      rows.push({ what: `${plugin}: until all pods are Ready`, measured: seconds(allReadyMs) });
    }
    rows.push({
      what: "the driver's own part of it, mean",
      measured: `${Math.round(await ownMeanMs(cluster))} ms`,
    });
    const [own = Number.NaN, ours = Number.NaN] = p95s;
    rows.push({ what: "mount p95, ours / kubelet's own", measured: times(ours / own), bar: "≤ 2 ×" });
    return { title: `share-driver (${podCount} pods at once on one node)`, rows };
  } finally {
    rmSync(images, { recursive: true, force: true });
  }
}

async function kubectl(cluster: LocalCluster, args: readonly string[], input?: unknown): Promise<string> {
  const given = input === undefined ? {} : { input: JSON.stringify(input) };
  const { code, stdout, stderr } = await cluster.kubectl(args, given);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

async function apply(cluster: LocalCluster, items: readonly object[]): Promise<void> {
  const list = { apiVersion: "v1", kind: "List", items };
  await kubectl(cluster, ["apply", "--server-side", "-f", "-"], list);
}

async function install(cluster: LocalCluster): Promise<void> {
  for (const file of [
    "config/crd/projectedresource.storage.openshift.io_shares.yaml",
    "deploy/share-driver.yaml",
  ])
    await kubectl(cluster, ["apply", "--server-side", "-f", join(repository, file)]);
  const subject = {
    kind: "ServiceAccount",
    name: "quartermaster-share-driver",
    namespace: "quartermaster-share-driver",
  };
  const everybody = { kind: "Group", apiGroup: group, name: "system:serviceaccounts" };
  const metadata = { name: "content", namespace: "default" };
  const backingResource = { kind: "Secret", ...metadata };
  const rules = [
    { apiGroups: [""], resources: ["secrets"], verbs: ["get", "watch"] },
    { apiGroups: ["projectedresource.storage.openshift.io"], resources: ["shares"], verbs: ["use"] },
  ];
  await apply(cluster, [
    { apiVersion: "v1", kind: "Secret", metadata, stringData: { "entitlement.pem": "x".repeat(8192) } },
    {
      apiVersion: "projectedresource.storage.openshift.io/v1alpha1",
      kind: "Share",
      metadata: { name: "content" },
      spec: { backingResource },
    },
    { apiVersion: `${group}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${group}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: group, kind: "Role", name: "content" },
      subjects: [subject, everybody],
    },
  ]);
  const rollout = ["rollout", "status", "daemonset/quartermaster-share-driver", "--timeout=120s"];
  await kubectl(cluster, ["-n", "quartermaster-share-driver", ...rollout]);
}

interface Measured {
  readonly p95Ms: number;
  readonly meanMs: number;
  readonly allReadyMs: number;
}

/** Starts the pods at once, waits for all of them, and reads kubelet's own histogram of what it took to mount. */
async function measure(cluster: LocalCluster, plugin: string, podCount: number): Promise<Measured> {
  const source = Object.entries(contestants).find(([name]) => name === plugin)?.[1] ?? {};
  const names = Array.from({ length: podCount }, (_, index) => `pod-${index}`);
  const before = await readHistogram(cluster, plugin);
  const begun = performance.now();
  await apply(
    cluster,
    names.map((name) => podWith(name, source)),
  );
  const pods = names.map((name) => `pod/${name}`);
  await kubectl(cluster, ["wait", "--for=condition=Ready", ...pods, "--timeout=300s"]);
  const allReadyMs = performance.now() - begun;
  const after = await readHistogram(cluster, plugin);
  await kubectl(cluster, ["delete", ...pods, "--timeout=300s"]);
  const buckets = after.buckets.map(({ upToSeconds, count }, index) => ({
    upToSeconds,
    count: count - (before.buckets[index]?.count ?? 0),
  }));
  const meanMs = (1000 * (after.sumSeconds - before.sumSeconds)) / (after.count - before.count);
  return { p95Ms: 1000 * quantile(0.95, buckets), meanMs, allReadyMs };
}

function podWith(name: string, source: object): object {
  const container = {
    name: "idle",
    image: "quartermaster.local/busybox:1",
    command: ["sleep", "infinity"],
    volumeMounts: [{ name: "content", mountPath: "/content" }],
  };
  const spec = {
    // Its token would be a projected volume too.
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    containers: [container],
    volumes: [{ name: "content", ...source }],
  };
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
}

interface Bucket {
  readonly upToSeconds: number;
  readonly count: number;
}

interface Histogram {
  readonly buckets: readonly Bucket[];
  readonly sumSeconds: number;
  readonly count: number;
}

async function readHistogram(cluster: LocalCluster, plugin: string): Promise<Histogram> {
  const node = cluster.nodes[0]?.name ?? "";
  const text = await kubectl(cluster, ["get", "--raw", `/api/v1/nodes/${node}/proxy/metrics`]);
  const lines = text
    .split("\n")
    .filter(
      (line) =>
        line.startsWith("storage_operation_duration_seconds_") &&
        line.includes('operation_name="volume_mount"') &&
        line.includes('status="success"') &&
        line.includes(`volume_plugin="${plugin}"`),
    );
  const valueOf = (suffix: string): number =>
    Number(
      lines
        .find((line) => line.includes(`_seconds_${suffix}{`))
        ?.split(" ")
        .at(-1) ?? 0,
    );
  const buckets = lines.flatMap((line) => {
    const [, bound] = /_bucket\{.*le="([^"]+)"/.exec(line) ?? [];
    if (bound === undefined) return [];
    const upToSeconds = bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound);
    return [{ upToSeconds, count: Number(line.split(" ").at(-1)) }];
  });
  return { buckets, sumSeconds: valueOf("sum"), count: valueOf("count") };
}

/** What the driver itself says about its answers to kubelet, those of the warm-up included. */
async function ownMeanMs(cluster: LocalCluster): Promise<number> {
  const namespace = "quartermaster-share-driver";
  const pod = await kubectl(cluster, [
    "-n",
    namespace,
    "get",
    "pods",
    "-o",
    "jsonpath={.items[0].metadata.name}",
  ]);
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}:8080/proxy/metrics`;
  const text = await kubectl(cluster, ["get", "--raw", path]);
  const valueOf = (suffix: string): number =>
    Number(new RegExp(`^quartermaster_share_driver_publish_seconds_${suffix} (.*)$`, "m").exec(text)?.[1]);
  return (1000 * valueOf("sum")) / valueOf("count");
}

/** As Prometheus computes it: within a bucket values are taken to be spread evenly. */
function quantile(share: number, buckets: readonly Bucket[]): number {
  const rank = share * (buckets.at(-1)?.count ?? 0);
  const index = buckets.findIndex(({ count }) => count >= rank);
  const found = buckets[index];
  const below = buckets[index - 1] ?? { upToSeconds: 0, count: 0 };
  if (found === undefined || found.upToSeconds === Number.POSITIVE_INFINITY) return below.upToSeconds;
  const within = (rank - below.count) / Math.max(1, found.count - below.count);
  return below.upToSeconds + within * (found.upToSeconds - below.upToSeconds);
}
