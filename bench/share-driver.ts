import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";

import { type LocalCluster, startLocalCluster } from "@quartermaster/local-cluster";

import { apply, kubectl } from "./share-driver/kubectl.ts";
import { logMounts, type MountTimes, readCallTimes, readMountTimes } from "./share-driver/mount-times.ts";
import { installNothing, nothingDriver, writeNothingImage } from "./share-driver/nothing-driver.ts";
import type { BenchOptions, Row, Section } from "./table.ts";
import { median, seconds, times } from "./table.ts";

const repository = join(import.meta.dirname, "..");
const driver = "projected-resource.storage.openshift.io";
const group = "rbac.authorization.k8s.io";

/** Three volumes of a pod: kubelet's own, ours, and one of a driver that does nothing, the least that any CSI driver can take. */
const contestants = {
  projected: { projected: { sources: [{ secret: { name: "content" } }] } },
  share: { csi: { driver, readOnly: true, volumeAttributes: { share: "content" } } },
  nothing: { csi: { driver: nothingDriver, readOnly: true } },
} as const;

type Contestant = keyof typeof contestants;

const names: readonly Contestant[] = ["projected", "share", "nothing"];

/** How long kubelet takes to mount a volume of the share driver, held against its own projected volume and a driver that does nothing (AC-H14). */
export async function benchShareDriver({ isQuick }: BenchOptions): Promise<Section> {
  const podCount = isQuick ? 10 : 50;
  const rounds = isQuick ? 1 : 3;
  const images = mkdtempSync(join(tmpdir(), "qm-bench-"));
  const image = join(images, "driver");
  const main = join(repository, "deploy/image/main.ts");
  execFileSync(process.execPath, [main, "--image", "share-driver", "--output", image], { cwd: repository });
  const nothing = await writeNothingImage(join(images, "nothing"));
  await using cluster = await startLocalCluster({ nodes: 1, images: [image, nothing] });
  try {
    await install(cluster);
    await installNothing(cluster);
    await logMounts(cluster);
    // All programs are in the page cache then.
    for (const name of names) await measure(cluster, { name, podCount: 5, run: `${name}-warm` });
    const found: Record<Contestant, Measured[]> = { projected: [], share: [], nothing: [] };
    for (let round = 0; round < rounds; round += 1)
      for (const name of names)
        found[name].push(await measure(cluster, { name, podCount, run: `${name}-${round}` }));
    return {
      title: `share-driver (${podCount} pods at once on one node, ${rounds} interleaved rounds)`,
      rows: [...rowsOf(found), ...(await callRows(cluster))],
    };
  } finally {
    rmSync(images, { recursive: true, force: true });
  }
}

function rowsOf(found: Readonly<Record<Contestant, readonly Measured[]>>): readonly Row[] {
  const args = {
    projected: "kubelet's projected volume",
    share: "the share driver",
    nothing: "a CSI driver that does nothing",
  };
  const p95Of = (name: Contestant): number => median(found[name].map(({ p95Ms }) => p95Ms));
  const each = names.flatMap((name): readonly Row[] => {
    const listed = (pick: (one: Measured) => number): string =>
      found[name].map((one) => Math.round(pick(one))).join(", ");
    return [
      { what: `${args[name]}: mount, p95 of each round`, measured: `${listed(({ p95Ms }) => p95Ms)} ms` },
      { what: `${args[name]}: mount, p50`, measured: `${listed(({ p50Ms }) => p50Ms)} ms` },
      { what: `${args[name]}: first start to last end`, measured: `${listed(({ allMs }) => allMs)} ms` },
      {
        what: `${args[name]}: until all pods are Ready`,
        measured: seconds(median(found[name].map(({ allReadyMs }) => allReadyMs))),
      },
    ];
  });
  return [
    ...each,
    {
      what: "mount p95, ours / kubelet's own",
      measured: times(p95Of("share") / p95Of("projected")),
    },
    {
      what: "mount p95, a driver that does nothing / kubelet's own",
      measured: times(p95Of("nothing") / p95Of("projected")),
    },
    {
      what: "mount p95, ours / a driver that does nothing",
      measured: times(p95Of("share") / p95Of("nothing")),
      bar: "≤ 2 ×",
    },
    { what: "load of the machine at the end", measured: (loadavg()[0] ?? Number.NaN).toFixed(1) },
  ];
}

/** What the calls take that a mount consists of, and how much of the last one is the driver's own. */
async function callRows(cluster: LocalCluster): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, who] of [
    [driver, "the share driver"],
    [nothingDriver, "a driver that does nothing"],
  ] as const)
    for (const method of ["NodeGetCapabilities", "NodePublishVolume"]) {
      const { count, sumMs } = await readCallTimes(cluster, name, method);
      rows.push({
        what: `${who}: ${method} as kubelet sees it, mean`,
        measured: `${Math.round(sumMs / count)} ms`,
      });
    }
  rows.push({
    what: "the share driver: NodePublishVolume as it sees it, mean",
    measured: `${Math.round(await ownMeanMs(cluster))} ms`,
  });
  return rows;
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
  const allAccounts = { kind: "Group", apiGroup: group, name: "system:serviceaccounts" };
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
      subjects: [subject, allAccounts],
    },
  ]);
  const rollout = ["rollout", "status", "daemonset/quartermaster-share-driver", "--timeout=120s"];
  await kubectl(cluster, ["-n", "quartermaster-share-driver", ...rollout]);
}

interface Measured extends MountTimes {
  readonly allReadyMs: number;
}

interface Run {
  readonly name: Contestant;
  readonly podCount: number;
  /** Begins the names of its pods. */
  readonly run: string;
}

/** Starts the pods at once, waits for all of them, and reads what kubelet wrote down about their mounts. */
async function measure(cluster: LocalCluster, { name, podCount, run }: Run): Promise<Measured> {
  const podNames = Array.from({ length: podCount }, (_, index) => `${run}-${index}`);
  const begun = performance.now();
  await apply(
    cluster,
    podNames.map((each) => podWith(each, contestants[name])),
  );
  const pods = podNames.map((each) => `pod/${each}`);
  await kubectl(cluster, ["wait", "--for=condition=Ready", ...pods, "--timeout=300s"]);
  const allReadyMs = performance.now() - begun;
  const mounts = readMountTimes(cluster, `${run}-`, podCount);
  await kubectl(cluster, ["delete", ...pods, "--timeout=300s"]);
  return { ...mounts, allReadyMs };
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
