import { BUSYBOX_IMAGE } from "../../src/images/busybox-image.ts";
import type { LocalCluster } from "../../src/index.ts";
import { eventually } from "../integration/eventually.ts";

const PLUGINS = "/var/lib/kubelet/plugins";

type Manifest = Readonly<Record<string, unknown>>;

/** A pod template that serves the file system below `/www` on port 8080, after it has run `prepare`. */
function webPodSpec(prepare: string): Manifest {
  return {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: "web",
        image: BUSYBOX_IMAGE,
        command: ["sh", "-ec", `mkdir -p /www; ${prepare}; exec httpd -f -v -p 8080 -h /www`],
        readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
      },
    ],
  };
}

/** A pod of that kind with its label `app`. */
export function webPod(name: string, prepare: string): Manifest {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app: name } },
    spec: webPodSpec(prepare),
  };
}

/** A pod that waits for commands by exec. */
export function idlePod(name: string): Manifest {
  const container = { name: "idle", image: BUSYBOX_IMAGE, command: ["sleep", "infinity"] };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 0, containers: [container] },
  };
}

const pluginsVolume = { name: "plugins", hostPath: { path: PLUGINS, type: "DirectoryOrCreate" } };

/** A DaemonSet as CSI drivers have it: it mounts a file system below kubelet's directory, to be seen by all clients on the node. */
export function mountingDaemonSet(name: string): Manifest {
  const directory = `${PLUGINS}/example/mnt`;
  const script = `mkdir -p ${directory}; mount -t tmpfs none ${directory}; echo hello > ${directory}/greeting; exec sleep infinity`;
  const container = {
    name: "plugin",
    image: BUSYBOX_IMAGE,
    command: ["sh", "-ec", script],
    securityContext: { privileged: true },
    volumeMounts: [{ name: "plugins", mountPath: PLUGINS, mountPropagation: "Bidirectional" }],
  };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { terminationGracePeriodSeconds: 0, containers: [container], volumes: [pluginsVolume] },
      },
    },
  };
}

/** A pod that sees at `/plugins` what others mount below kubelet's directory of plugins. */
export function watchingPod(name: string): Manifest {
  const container = {
    name: "idle",
    image: BUSYBOX_IMAGE,
    command: ["sleep", "infinity"],
    volumeMounts: [{ name: "plugins", mountPath: "/plugins", mountPropagation: "HostToContainer" }],
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 0, containers: [container], volumes: [pluginsVolume] },
  };
}

/** A Service on port 80 for the pods labelled `app`; without an address of its own when headless. */
export function webService(name: string, app: string, isHeadless = false): Manifest {
  const ports = [{ port: 80, targetPort: 8080 }];
  const spec = { selector: { app }, ports, ...(isHeadless ? { clusterIP: "None" } : {}) };
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec };
}

/** A StatefulSet of web servers whose `/www` is a volume, no two on one node. */
export function webStatefulSet(name: string, replicas: number, prepare: string): Manifest {
  const [container] = webPodSpec(prepare)["containers"] as readonly [Manifest];
  const antiAffinity = {
    topologyKey: "kubernetes.io/hostname",
    labelSelector: { matchLabels: { app: name } },
  };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name },
    spec: {
      serviceName: name,
      replicas,
      podManagementPolicy: "Parallel",
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          ...webPodSpec(prepare),
          securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
          affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [antiAffinity] } },
          containers: [{ ...container, volumeMounts: [{ name: "data", mountPath: "/www" }] }],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  };
}

/** Runs kubectl and fails with what it said unless it ended well. */
export async function kubectl(cluster: LocalCluster, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Applies objects to the default namespace. */
export async function apply(cluster: LocalCluster, ...objects: readonly Manifest[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  const { code, stderr } = await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input });
  if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
}

/** Reads one object. */
export async function read<T>(cluster: LocalCluster, kind: string, name: string): Promise<T> {
  return JSON.parse(await kubectl(cluster, "get", kind, name, "-o", "json")) as T;
}

/** The parts of a Pod that tests look at. */
export interface Pod {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly {
      readonly containerID?: string;
      readonly restartCount: number;
      readonly state: Manifest;
    }[];
  };
}

/** Waits until the pod is Ready, other than the one with this uid. */
export async function untilPodReady(cluster: LocalCluster, name: string, formerUid = ""): Promise<Pod> {
  let seen = "";
  return await eventually(
    async () => {
      const response = await cluster.kubectl(["get", "pod", name, "-o", "json"]);
      seen = response.stdout === "" ? response.stderr : response.stdout;
      if (response.code !== 0) return undefined;
      const pod = JSON.parse(response.stdout) as Pod;
      return pod.metadata.uid !== formerUid && hasCondition(pod.status.conditions, "True") ? pod : undefined;
    },
    () => seen,
    90_000,
  );
}

/** Waits until the node's Ready condition has this status. */
export async function untilNodeReadyIs(
  cluster: LocalCluster,
  name: string,
  status: "True" | "Unknown",
): Promise<void> {
  let seen = "";
  await eventually(
    async () => {
      seen = (await cluster.kubectl(["get", "node", name, "-o", "json"])).stdout;
      const node = JSON.parse(seen) as Pick<Pod, "status">;
      return hasCondition(node.status.conditions, status) ? true : undefined;
    },
    () => seen,
    120_000,
  );
}

/** Runs a command in a pod until it ends well, and gives its output. */
export async function untilExec(cluster: LocalCluster, pod: string, command: string): Promise<string> {
  let seen = "";
  return await eventually(
    async () => {
      const response = await cluster.kubectl(["exec", pod, "--", "sh", "-c", command]);
      seen = response.stdout + response.stderr;
      return response.code === 0 ? response.stdout : undefined;
    },
    () => seen,
  );
}

function hasCondition(conditions: Pod["status"]["conditions"], status: string): boolean {
  return conditions?.some((condition) => condition.type === "Ready" && condition.status === status) ?? false;
}
