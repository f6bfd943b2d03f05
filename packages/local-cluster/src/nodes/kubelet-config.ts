import type { CertificateFiles } from "../pki/cluster-credentials.ts";
import { DNS_SERVICE_ADDRESS, POD_CIDR } from "./network.ts";
import type { NodePaths } from "./node-paths.ts";

/** Configuration of a node's kubelet. */
export interface KubeletFacts {
  readonly name: string;
  readonly zone: string;
  readonly address: string;
  readonly paths: NodePaths;
  readonly clientCaPath: string;
  readonly serving: CertificateFiles;
  readonly kubeconfigPath: string;
}

/**
 * The KubeletConfiguration of a node. The limits that a real node keeps for itself are off: the disk and the memory belong
 * to the whole machine, and a machine that is nearly full must not evict pods. The lease is short, so that a node that is
 * cut off is noticed within seconds.
 */
export function desiredKubeletConfig({
  address,
  paths,
  clientCaPath,
  serving,
}: KubeletFacts): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: clientCaPath },
    },
    authorization: { mode: "Webhook" },
    tlsCertFile: serving.certificatePath,
    tlsPrivateKeyFile: serving.keyPath,
    containerRuntimeEndpoint: `unix://${paths.containerdSocket}`,
    clusterDNS: [DNS_SERVICE_ADDRESS],
    clusterDomain: "cluster.local",
    resolvConf: paths.resolvConf,
    podLogsDir: paths.podLogs,
    volumePluginDir: `${paths.kubeletRoot}/volume-plugins`,
    nodeLeaseDurationSeconds: NODE_LEASE_SECONDS,
    nodeStatusUpdateFrequency: "5s",
    // A changed Secret reaches the files of a running pod with the next sync of it: a minute by default, too long for an interactive user.
    syncFrequency: "10s",
    ...CGROUPS,
    ...WHOLE_MACHINE,
    cgroupRoot: `/${paths.cgroup}`,
    // Tolerates sysctls, oom scores and limits that are refused where the machine itself is a container.
    featureGates: { KubeletInUserNamespace: true },
  };
}

/** A kubelet renews its lease four times in this time. The controller-manager's grace period must be longer. */
const NODE_LEASE_SECONDS = 16;

const CGROUPS = {
  cgroupDriver: "cgroupfs",
  cgroupsPerQOS: true,
  enforceNodeAllocatable: [],
  failCgroupV1: false,
};

const WHOLE_MACHINE = {
  failSwapOn: false,
  localStorageCapacityIsolation: false,
  imageGCHighThresholdPercent: 100,
  evictionHard: {
    "imagefs.available": "0%",
    "imagefs.inodesFree": "0%",
    "memory.available": "0%",
    "nodefs.available": "0%",
    "nodefs.inodesFree": "0%",
  },
};

/** The command line of a node's kubelet: what its configuration file cannot say. */
export function kubeletArguments({
  name,
  zone,
  address,
  paths,
  kubeconfigPath,
}: KubeletFacts): readonly string[] {
  return [
    `--config=${paths.kubeletConfig}`,
    `--kubeconfig=${kubeconfigPath}`,
    `--root-dir=${paths.kubeletRoot}`,
    `--cert-dir=${paths.kubeletRoot}/pki`,
    `--hostname-override=${name}`,
    `--node-ip=${address}`,
    `--node-labels=topology.kubernetes.io/zone=${zone}`,
  ];
}

/** Configuration of a node's kube-proxy. */
export interface KubeProxyFacts {
  readonly name: string;
  readonly address: string;
  readonly kubeconfigPath: string;
}

/** Port on which kube-proxy says whether its rules are in place. */
export const KUBE_PROXY_HEALTH_PORT = 10_256;

/** The KubeProxyConfiguration of a node. Limits of connection tracking are the machine's: zero keeps them. */
export function desiredKubeProxyConfig({
  name,
  address,
  kubeconfigPath,
}: KubeProxyFacts): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    hostnameOverride: name,
    clusterCIDR: POD_CIDR,
    clientConnection: { kubeconfig: kubeconfigPath },
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
    healthzBindAddress: `${address}:${KUBE_PROXY_HEALTH_PORT}`,
    metricsBindAddress: "127.0.0.1:10249",
  };
}
