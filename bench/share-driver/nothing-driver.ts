import { statSync } from "node:fs";

import { type LocalCluster, writeImageLayout } from "@quartermaster/local-cluster";

import { buildGoProgram } from "../programs.ts";
import { apply, kubectl } from "./kubectl.ts";

/** A driver in Go that answers immediately and mounts nothing (bench/peers/csi-nothing). */
export const nothingDriver = "nothing.bench.quartermaster.dev";

const image = "quartermaster.local/csi-nothing:0";
const name = "csi-nothing";

/** Writes its image into the directory. */
export async function writeNothingImage(target: string): Promise<string> {
  const file = buildGoProgram({ name: "csi-nothing", isStatic: true });
  const content = { file, sizeBytes: statSync(file).size };
  const entries = [{ kind: "file", path: "driver", mode: 0o755, content } as const];
  await writeImageLayout({ name: image, entries, entrypoint: ["/driver"], compression: "none", target });
  return target;
}

/** Runs it on every node, with the same mounts as the share driver, and waits until kubelet knows it. */
export async function installNothing(cluster: LocalCluster): Promise<void> {
  const labels = { app: name };
  const directories = ["pods", `plugins/${nothingDriver}`, "plugins_registry"];
  const container = {
    name,
    image,
    imagePullPolicy: "IfNotPresent",
    securityContext: { privileged: true },
    resources: { requests: { cpu: "100m" } },
    env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
    volumeMounts: directories.map((directory, at) => ({
      name: `v${at}`,
      mountPath: `/var/lib/kubelet/${directory}`,
      ...(directory === "pods" ? { mountPropagation: "Bidirectional" } : {}),
    })),
  };
  const volumes = directories.map((directory, at) => ({
    name: `v${at}`,
    hostPath: { path: `/var/lib/kubelet/${directory}`, type: "DirectoryOrCreate" },
  }));
  const tolerations = [{ operator: "Exists" }];
  await apply(cluster, [
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIDriver",
      metadata: { name: nothingDriver },
      spec: {
        volumeLifecycleModes: ["Ephemeral"],
        podInfoOnMount: true,
        attachRequired: false,
        fsGroupPolicy: "None",
      },
    },
    {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name, namespace: "kube-system" },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { tolerations, containers: [container], volumes } },
      },
    },
  ]);
  await kubectl(cluster, ["-n", "kube-system", "rollout", "status", `daemonset/${name}`, "--timeout=120s"]);
}
