import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { eventually, type LocalCluster, startLocalCluster } from "@quartermaster/testkit";

import { shareDriverImage, writeImage } from "../../image/program-images.ts";

const repository = join(import.meta.dirname, "../../..");
const busybox = "quartermaster.local/busybox:1";

/** The CSIDriver's name. */
const DRIVER = "projected-resource.storage.openshift.io";
/** The driver's account in the audit log. */
export const DRIVER_USER = "system:serviceaccount:quartermaster-share-driver:quartermaster-share-driver";
/** Where entitlements belong. */
export const ENTITLEMENT = "/run/secrets/etc-pki-entitlement";
/** Where these tests mount repositories. */
export const REPOSITORIES = "/etc/yum.repos.d";
/** Where kubelet mounts the account's token. */
export const TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token";
/** Namespace of the pods; that of the shared objects is `source`. */
const APP = "app";

type Manifest = Readonly<Record<string, unknown>>;

/** A cluster with real nodes, the share driver running, and what tests do with it. */
export class ShareDriverCluster implements AsyncDisposable {
  readonly cluster: LocalCluster;
  readonly #images: string;

  private constructor(cluster: LocalCluster, images: string) {
    this.cluster = cluster;
    this.#images = images;
  }

  /** Starts a cluster with one node and waits until kubelet knows the driver. */
  static async start(): Promise<ShareDriverCluster> {
    const images = mkdtempSync(join(tmpdir(), "qm-image-"));
    const image = await writeImage(shareDriverImage, { target: join(images, "driver"), compression: "none" });
    const cluster = await startLocalCluster({ nodes: 1, images: [image.directory], audit: "Metadata" });
    const started = new ShareDriverCluster(cluster, images);
    await started.kubectl("create", "namespace", "source");
    await started.kubectl("create", "namespace", APP);
    const files = [
      "config/crd/projectedresource.storage.openshift.io_shares.yaml",
      "deploy/share-driver.yaml",
    ];
    for (const file of files) await started.kubectl("apply", "--server-side", "-f", join(repository, file));
    await started.untilDriverReady();
    return started;
  }

  /** Waits until the driver's pod is Ready: kubelet has registered it. */
  async untilDriverReady(): Promise<void> {
    const namespace = "quartermaster-share-driver";
    const args = [
      "-n",
      namespace,
      "rollout",
      "status",
      "daemonset/quartermaster-share-driver",
      "--timeout=120s",
    ];
    await this.kubectl(...args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster.stop();
    rmSync(this.#images, { recursive: true, force: true });
  }

  /** Runs kubectl and fails with what it said unless it ended well. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.cluster.kubectl(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** Applies objects. */
  async apply(...items: readonly Manifest[]): Promise<void> {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    const args = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
    const { code, stderr } = await this.cluster.kubectl(args, { input });
    if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
  }

  /** A Share of a new Secret, or ConfigMap, that the driver may read and the accounts of the app namespace may use. */
  async share(
    name: string,
    data: Readonly<Record<string, string | Buffer>>,
    configMap?: Readonly<Record<string, string>>,
  ): Promise<void> {
    const metadata = { name, namespace: "source" };
    const kind = configMap === undefined ? "Secret" : "ConfigMap";
    const object =
      configMap === undefined ? secret(name, data) : { apiVersion: "v1", kind, metadata, data: configMap };
    await this.apply(object, shareOf(name, kind), ...accessTo(name));
  }

  /** Waits until the pods are Ready. */
  async untilReady(...pods: readonly string[]): Promise<void> {
    const names = pods.map((pod) => `pod/${pod}`);
    await this.kubectl("-n", APP, "wait", "--for=condition=Ready", ...names, "--timeout=90s");
  }

  /** Creates an object that is too large to be applied. */
  async create(object: Manifest): Promise<void> {
    const { code, stderr } = await this.cluster.kubectl(["create", "-f", "-"], {
      input: JSON.stringify(object),
    });
    if (code !== 0) throw new Error(`kubectl create: ${stderr}`);
  }

  /** Adds an ephemeral container that prints the pod's `1.pem` and ends. */
  async debug(pod: string): Promise<void> {
    const container = {
      name: "debugger",
      image: busybox,
      command: ["cat", `${ENTITLEMENT}/1.pem`],
      volumeMounts: [{ name: "etc-pki-entitlement", mountPath: ENTITLEMENT }],
    };
    const patch = JSON.stringify({ spec: { ephemeralContainers: [container] } });
    await this.kubectl("-n", APP, "patch", "pod", pod, "--subresource=ephemeralcontainers", "-p", patch);
  }

  /** All that the driver has logged, in its former life too. */
  async driverLog(): Promise<string> {
    const log = ["-n", "quartermaster-share-driver", "logs", "daemonset/quartermaster-share-driver"];
    const former = await this.cluster.kubectl([...log, "--previous"]);
    return former.stdout + (await this.kubectl(...log));
  }

  /** Kills the driver's process, and nothing else: it is the one below this cluster's cgroup that runs our program. */
  async killDriver(): Promise<void> {
    const pid = readdirSync("/proc").find(
      (entry) =>
        /^\d+$/.test(entry) &&
        textOf(`/proc/${entry}/cmdline`).includes("/app/share-driver.mjs") &&
        textOf(`/proc/${entry}/cgroup`).includes(`quartermaster-${basename(this.cluster.directory)}-`),
    );
    if (pid === undefined) throw new Error("the driver does not run");
    process.kill(Number(pid), "SIGKILL");
    await eventually(() => textOf(`/proc/${pid}/cmdline`) === "");
  }

  /** What the API server wrote down. */
  auditLines(): string {
    return readFileSync(this.cluster.auditLogPath ?? "", "utf8");
  }

  /** Runs a command in a pod; its output. */
  async exec(pod: string, command: string): Promise<string> {
    return await this.kubectl("-n", APP, "exec", pod, "-c", "main", "--", "sh", "-c", command);
  }

  /** Waits for an event of the pod that says why its volume is not mounted; gives all such messages. */
  async untilRefused(pod: string): Promise<string> {
    const fields = `involvedObject.name=${pod},reason=FailedMount`;
    const args = [
      "-n",
      APP,
      "get",
      "events",
      `--field-selector=${fields}`,
      "-o",
      "jsonpath={.items[*].message}",
    ];
    let messages = "";
    await eventually(
      async () => {
        messages = await this.kubectl(...args);
        return messages.includes("rpc error");
      },
      { withinMs: 90_000 },
    );
    return messages;
  }

  /** Deletes pods at once and waits until they no longer exist. */
  async deletePods(...pods: readonly string[]): Promise<void> {
    await this.kubectl("-n", APP, "delete", "pod", ...pods, "--timeout=120s");
  }

  /** File systems of our volumes that are mounted on the node. */
  mounts(): readonly string[] {
    const file = `--mount=${this.cluster.directory}/ns/${this.#nodeName()}.mnt`;
    const table = execFileSync("nsenter", [file, "cat", "/proc/self/mountinfo"], { encoding: "utf8" });
    return table.split("\n").filter((line) => line.includes("kubernetes.io~csi"));
  }

  /** Records of volumes that the driver keeps on the node. */
  records(): readonly string[] {
    return readdirSync(join(this.#kubeletDirectory(), "plugins", DRIVER, "volumes"));
  }

  /** Pods of the app namespace, which all have volumes of ours, and those volumes. */
  async volumesInUse(): Promise<{ readonly pods: number; readonly volumes: number }> {
    const format = "-o=jsonpath={range .items[*]}{.spec.volumes[*].csi.driver}{'\\n'}{end}";
    const text = await this.kubectl("-n", APP, "get", "pods", format);
    const lines = text.split("\n").filter((line) => line !== "");
    return { pods: lines.length, volumes: lines.flatMap((line) => line.split(" ")).length };
  }

  /** Directories that kubelet keeps for pods of the node, with a volume of ours inside. */
  volumeDirectories(): readonly string[] {
    const pods = join(this.#kubeletDirectory(), "pods");
    return readdirSync(pods, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith("kubernetes.io~csi"),
    );
  }

  /** Processes, mounts and directories of the cluster on this machine. */
  traces(): readonly string[] {
    const { directory } = this.cluster;
    const processes = readdirSync("/proc").filter(
      (entry) =>
        /^\d+$/.test(entry) &&
        textOf(`/proc/${entry}/cmdline`) !== "" && // a dead process that no one has asked about yet has none
        textOf(`/proc/${entry}/cgroup`).includes(`quartermaster-${basename(directory)}-`),
    );
    const mounts = textOf("/proc/self/mountinfo")
      .split("\n")
      .filter((line) => line.includes(directory));
    const left = [directory, "/var/lib/kubelet"].filter((path) => existsSync(path));
    return [...processes, ...mounts, ...left];
  }

  #kubeletDirectory(): string {
    return join(this.cluster.directory, "nodes", this.#nodeName(), "kubelet");
  }

  #nodeName(): string {
    return this.cluster.nodes[0]?.name ?? "";
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process ended while we looked
  }
}

/** A Secret in the namespace `source`; values are bytes. */
export function secret(name: string, data: Readonly<Record<string, string | Buffer>>): Manifest {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: "source" },
    data: Object.fromEntries(encoded) as unknown,
  };
}

/** The Share of the Secret or ConfigMap of the same name. */
export function shareOf(name: string, kind = "Secret"): Manifest {
  return {
    apiVersion: "projectedresource.storage.openshift.io/v1alpha1",
    kind: "Share",
    metadata: { name },
    spec: { backingResource: { kind, name, namespace: "source" } },
  };
}

/** What comes with each Share: the driver may read the one Secret, and accounts of the app namespace may use the Share. */
export function accessTo(name: string): readonly Manifest[] {
  const group = "rbac.authorization.k8s.io";
  const useShare = {
    apiGroups: ["projectedresource.storage.openshift.io"],
    resources: ["shares"],
    verbs: ["use"],
  };
  const readSecret = { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ["get", "watch"] };
  const driver = {
    kind: "ServiceAccount",
    name: "quartermaster-share-driver",
    namespace: "quartermaster-share-driver",
  };
  const accounts = { kind: "Group", apiGroup: group, name: `system:serviceaccounts:${APP}` };
  const [reader, user] = [`read-${name}`, `use-${name}`];
  return [
    role("Role", { name: reader, namespace: "source" }, { ...readSecret, resourceNames: [name] }),
    binding({ name: reader, namespace: "source" }, { kind: "Role", name: reader }, driver),
    role("ClusterRole", { name: user }, { ...useShare, resourceNames: [name] }),
    binding({ name: user, namespace: APP }, { kind: "ClusterRole", name: user }, accounts),
  ];
}

function role(kind: string, metadata: Manifest, rule: Manifest): Manifest {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind, metadata, rules: [rule] };
}

function binding(metadata: Manifest, roleRef: Manifest, subject: Manifest): Manifest {
  const apiGroup = "rbac.authorization.k8s.io";
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: "RoleBinding",
    metadata,
    roleRef: { apiGroup, ...roleRef },
    subjects: [subject],
  };
}

export interface PodRequest {
  readonly attributes: Readonly<Record<string, string>>;
  /** Attributes of a second volume, at REPOSITORIES. */
  readonly repositories?: Readonly<Record<string, string>>;
  readonly readOnly?: boolean;
  readonly serviceAccount?: string;
}

/** A pod that waits, as no one in particular, with a volume of the driver where entitlements belong. */
export function sharePod(name: string, request: PodRequest): Manifest {
  const { attributes, repositories, readOnly = true, serviceAccount = "default" } = request;
  const volumes = [
    volume("etc-pki-entitlement", attributes, readOnly),
    ...(repositories === undefined ? [] : [volume("yum-repo", repositories, readOnly)]),
  ];
  const volumeMounts = [
    { name: "etc-pki-entitlement", mountPath: ENTITLEMENT },
    ...(repositories === undefined ? [] : [{ name: "yum-repo", mountPath: REPOSITORIES }]),
  ];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: APP },
    spec: {
      serviceAccountName: serviceAccount,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsUser: 1000, runAsGroup: 1000 },
      containers: [{ name: "main", image: busybox, command: ["sleep", "infinity"], volumeMounts }],
      volumes,
    },
  };
}

function volume(
  name: string,
  volumeAttributes: Readonly<Record<string, string>>,
  readOnly: boolean,
): Manifest {
  return { name, csi: { driver: DRIVER, readOnly, volumeAttributes } };
}

/** The attribute for several shares. */
export function sources(...names: readonly string[]): Readonly<Record<string, string>> {
  return { sources: JSON.stringify(names.map((name) => ({ share: { name } }))) };
}
