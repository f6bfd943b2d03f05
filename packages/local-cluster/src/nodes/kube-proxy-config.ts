import { POD_CIDR } from "./hub-commands.ts";

/** Configuration of a node's kube-proxy. */
export interface KubeProxyFacts {
  readonly name: string;
  readonly address: string;
  readonly kubeconfigPath: string;
}

/** Port on which kube-proxy says whether its rules are in place. */
export const KUBE_PROXY_HEALTH_PORT = 10_256;

/** The KubeProxyConfiguration of a node. Limits of connection tracking are the machine's: zero leaves them alone. */
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
