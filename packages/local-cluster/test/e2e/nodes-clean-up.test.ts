import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { hasRealNodes } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { startLocalCluster } from "../../src/index.ts";
import { cgroupHierarchies } from "../../src/nodes/cgroups.ts";
import { identifyProcess } from "../../src/process/process-identity.ts";
import { eventually } from "../integration/eventually.ts";
import { apply, idlePod, mountingDaemonSet, untilExec, untilPodReady, watchingPod } from "./workloads.ts";

/** Everything on the machine that names the cluster's directory: processes, mounts, cgroups. */
function traces(directory: string, name: string): readonly string[] {
  const processes = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && identifyProcess(Number(entry)) !== undefined)
    .filter(
      (pid) =>
        textOf(`/proc/${pid}/cmdline`).includes(directory) ||
        textOf(`/proc/${pid}/cgroup`).includes(`quartermaster-${name}`),
    )
    .map((pid) => `process ${pid} ${textOf(`/proc/${pid}/cmdline`)}`);
  const mounts = textOf("/proc/self/mountinfo")
    .split("\n")
    .filter((line) => line.includes(directory));
  const cgroups = cgroupHierarchies().flatMap((hierarchy) =>
    readdirSync(hierarchy).filter((entry) => entry.startsWith(`quartermaster-${name}`)),
  );
  return [...processes, ...mounts, ...cgroups, ...(existsSync(directory) ? [directory] : [])];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process ended while we looked
  }
}

/** Paths that container runtimes and kubelet are known to write to, whatever their configuration says. */
function wellKnownLocations(): readonly string[] {
  return [
    "/run/containerd",
    "/run/mount",
    "/run/netns",
    "/var/lib/cni",
    "/var/lib/kubelet",
    "/var/lib/containerd",
    "/var/log/containers",
    "/var/log/pods",
    "/etc/cni",
    "/tmp/hostpath_pv",
  ].filter((path) => existsSync(path));
}

function clustersDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "qm-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

describe.runIf(hasRealNodes())("what is left of a cluster with real nodes", () => {
  test("[local-cluster/LC-06] nothing, after it was stopped with pods running", async () => {
    using parent = clustersDirectory();
    const slotsBefore = wellKnownLocations();
    const cluster = await startLocalCluster({ nodes: 2, parentDirectory: parent.path, name: "stopped" });
    await apply(cluster, idlePod("one"));
    await untilPodReady(cluster, "one");
    expect(traces(cluster.directory, "stopped")).not.toEqual([]);
    await cluster.stop();
    expect(traces(cluster.directory, "stopped")).toEqual([]);
    expect(wellKnownLocations()).toEqual(slotsBefore);
  });

  test("[local-cluster/LC-28] nothing, after a DaemonSet mounted below /var/lib/kubelet, and its mount reached a pod", async () => {
    using parent = clustersDirectory();
    const slotsBefore = wellKnownLocations();
    const cluster = await startLocalCluster({ nodes: 1, parentDirectory: parent.path, name: "plugin" });
    await apply(cluster, mountingDaemonSet("plugin"), watchingPod("reader"));
    await untilPodReady(cluster, "reader");
    expect(await untilExec(cluster, "reader", "cat /plugins/example/mnt/greeting")).toBe("hello\n");
    await cluster.stop();
    expect(traces(cluster.directory, "plugin")).toEqual([]);
    expect(wellKnownLocations()).toEqual(slotsBefore);
  });

  test("[local-cluster/LC-06] nothing, after its launcher was killed", async () => {
    using parent = clustersDirectory();
    const script = fileURLToPath(import.meta.resolve("./nodes-launcher.ts"));
    const launcher = spawn(process.execPath, [script, parent.path, "orphan"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => launcher.stdout.once("data", resolve));
    const directory = join(parent.path, "orphan");
    expect(traces(directory, "orphan")).not.toEqual([]);
    launcher.kill("SIGKILL");
    await eventually(
      () => (traces(directory, "orphan").length === 0 ? true : undefined),
      () => traces(directory, "orphan").join("\n"),
    );
  });
});
