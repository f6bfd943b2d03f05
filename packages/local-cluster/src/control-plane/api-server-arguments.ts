import { join } from "node:path";

import type { CertificateFiles, ClusterCredentials } from "../pki/cluster-credentials.ts";

export interface ControlPlaneFacts {
  readonly directory: string;
  readonly credentials: ClusterCredentials;
  /** Address the API server listens on: loopback, or the hub's address where there are real nodes. */
  readonly address: string;
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly auditPolicyPath: string | undefined;
  readonly etcdCompactionInterval: string;
  readonly apiServerArguments: readonly string[];
}

/** One API server of a cluster: there are two where stale reads are to be tested. */
export interface ApiServerFacts {
  readonly name: string;
  readonly port: number;
  readonly etcdSocket: string;
  readonly serving: CertificateFiles;
  readonly auditLogPath: string | undefined;
}

/** Services get their addresses from here; the first one is the API server's. */
export const SERVICE_CIDR = "10.96.0.0/16";
/** ClusterIP of the `kubernetes` Service: first address of the range. */
export const KUBERNETES_SERVICE_ADDRESS = "10.96.0.1";

/**
 * etcd on a unix socket below the cluster's directory: no port to collide, no one but the directory's owner can read Secrets.
 * Nothing is synced to disk: the data is thrown away with the cluster and must only survive the death of a process.
 */
export function etcdArguments(directory: string): readonly string[] {
  const client = `unix://${etcdSocket(directory)}`;
  const peer = `unix://${join(directory, "etcd-peer.sock")}`;
  return [
    "--name=etcd",
    `--data-dir=${join(directory, "etcd")}`,
    "--unsafe-no-fsync",
    "--quota-backend-bytes=8589934592",
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=etcd=${peer}`,
    "--log-level=warn",
  ];
}

/** Socket of etcd for clients. */
export function etcdSocket(directory: string): string {
  return join(directory, "etcd.sock");
}

/** RBAC and Node authorisation on, anonymous requests off, no feature switched on that production would not have. */
export function apiServerArguments(facts: ControlPlaneFacts, server: ApiServerFacts): readonly string[] {
  const { credentials } = facts;
  return [
    `--etcd-servers=unix://${server.etcdSocket}`,
    `--etcd-compaction-interval=${facts.etcdCompactionInterval}`,
    `--bind-address=${facts.address}`,
    `--advertise-address=${advertisedAddress(facts.address)}`,
    `--secure-port=${server.port}`,
    `--cert-dir=${join(facts.directory, "pki")}`,
    `--tls-cert-file=${server.serving.certificatePath}`,
    `--tls-private-key-file=${server.serving.keyPath}`,
    `--client-ca-file=${credentials.caFiles.certificatePath}`,
    `--token-auth-file=${credentials.tokenFilePath}`,
    "--anonymous-auth=false",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--allow-privileged=true",
    `--service-cluster-ip-range=${SERVICE_CIDR}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${credentials.serviceAccountKeyPath}`,
    `--service-account-signing-key-file=${credentials.serviceAccountKeyPath}`,
    `--kubelet-certificate-authority=${credentials.caFiles.certificatePath}`,
    `--kubelet-client-certificate=${credentials.kubeletClient.certificatePath}`,
    `--kubelet-client-key=${credentials.kubeletClient.keyPath}`,
    "--kubelet-preferred-address-types=InternalIP",
    `--requestheader-client-ca-file=${credentials.frontProxyCaPath}`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${credentials.frontProxyClient.certificatePath}`,
    `--proxy-client-key-file=${credentials.frontProxyClient.keyPath}`,
    ...featureGateArguments(facts.featureGates),
    ...auditArguments(facts.auditPolicyPath, server.auditLogPath),
    ...facts.apiServerArguments,
  ];
}

/** Garbage collection, namespaces, service accounts, workloads; no port of its own, quick enough for tests with thousands of objects. */
export function controllerManagerArguments(
  facts: ControlPlaneFacts,
  kubeconfigPath: string,
): readonly string[] {
  const { credentials } = facts;
  return [
    ...controllerArguments(facts, kubeconfigPath),
    "--use-service-account-credentials=true",
    `--service-account-private-key-file=${credentials.serviceAccountKeyPath}`,
    `--root-ca-file=${credentials.caFiles.certificatePath}`,
    `--cluster-signing-cert-file=${credentials.caFiles.certificatePath}`,
    `--cluster-signing-key-file=${credentials.caFiles.keyPath}`,
    // Nodes renew their leases every few seconds; one that was cut off is to be noticed within a test's timeout.
    "--node-monitor-grace-period=20s",
  ];
}

/** The scheduler without leader election and without a port of its own. */
export function schedulerArguments(facts: ControlPlaneFacts, kubeconfigPath: string): readonly string[] {
  return controllerArguments(facts, kubeconfigPath);
}

/** Common arguments of controller-manager and scheduler: one of each, no port of their own, quick with thousands of objects. */
function controllerArguments({ featureGates }: ControlPlaneFacts, kubeconfigPath: string): readonly string[] {
  return [
    `--kubeconfig=${kubeconfigPath}`,
    `--authentication-kubeconfig=${kubeconfigPath}`,
    `--authorization-kubeconfig=${kubeconfigPath}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
    ...featureGateArguments(featureGates),
  ];
}

/** kwok manages only the nodes that are annotated as fake, so that they can stand beside real ones. */
export function kwokArguments(kubeconfigPath: string, stagesPath: string): readonly string[] {
  return [
    `--kubeconfig=${kubeconfigPath}`,
    `--config=${stagesPath}`,
    "--manage-all-nodes=false",
    "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
    "--node-lease-duration-seconds=20",
    "--cidr=10.200.0.0/16",
    "--node-ip=10.199.0.1",
  ];
}

function featureGateArguments(gates: Readonly<Record<string, boolean>>): readonly string[] {
  const pairs = Object.entries(gates).map(([gate, on]) => `${gate}=${on}`);
  return pairs.length === 0 ? [] : [`--feature-gates=${pairs.toSorted().join(",")}`];
}

const terabyteInMegabytes = 1_000_000;

function auditArguments(policyPath: string | undefined, logPath: string | undefined): readonly string[] {
  return policyPath === undefined || logPath === undefined
    ? []
    : [
        `--audit-policy-file=${policyPath}`,
        `--audit-log-path=${logPath}`,
        // One file for the cluster's life: readers keep their place in it. Left out, it is moved away at 100 MB.
        `--audit-log-maxsize=${terabyteInMegabytes}`,
      ];
}

/** The `kubernetes` Service cannot have a loopback endpoint; an address of the documentation range leads nowhere. */
function advertisedAddress(address: string): string {
  return address.startsWith("127.") ? "192.0.2.1" : address;
}

/** How much of each request the audit log keeps; the API server's own levels. */
export type AuditLevel = "Metadata" | "Request" | "RequestResponse";

/** A complete audit.k8s.io/v1 Policy, or just the level that every request is logged at. */
export type AuditPolicy = AuditLevel | Readonly<Record<string, unknown>>;

/** The policy document. Each request is logged once, with its response; a watch also when it starts. */
export function auditPolicyDocument(policy: AuditPolicy): Readonly<Record<string, unknown>> {
  if (typeof policy !== "string") return policy;
  return {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    rules: [{ level: policy }],
  };
}
