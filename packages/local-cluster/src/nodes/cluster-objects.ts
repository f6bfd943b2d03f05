import { DNS_SERVICE_ADDRESS, HUB_ADDRESS } from "./network.ts";

/** An object the cluster needs, and where the API server keeps it. */
export interface ClusterObject {
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Users the nodes' own programs act as. */
export const KUBE_PROXY_USER = "system:kube-proxy";
/** The name server's user. */
export const DNS_USER = "system:coredns";

/** Objects that real nodes need in the API: the name server's Service and the rights of kube-proxy and the name server. */
export function nodeObjects(): readonly ClusterObject[] {
  return [
    dnsService(),
    dnsEndpoints(),
    dnsRole(),
    roleBinding("system:coredns", DNS_USER),
    roleBinding("system:node-proxier", KUBE_PROXY_USER),
  ];
}

const DNS_PORTS = [
  { name: "dns", port: 53, protocol: "UDP" },
  { name: "dns-tcp", port: 53, protocol: "TCP" },
];

function dnsService(): ClusterObject {
  return {
    path: "/api/v1/namespaces/kube-system/services/kube-dns",
    object: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kube-dns", namespace: "kube-system", labels: { "k8s-app": "kube-dns" } },
      spec: { clusterIP: DNS_SERVICE_ADDRESS, ports: DNS_PORTS },
    },
  };
}

/** Made by hand, because the name server is not a pod: a Service without selector. */
function dnsEndpoints(): ClusterObject {
  return {
    path: "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices/kube-dns",
    object: {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: "kube-dns",
        namespace: "kube-system",
        labels: { "kubernetes.io/service-name": "kube-dns" },
      },
      addressType: "IPv4",
      ports: DNS_PORTS,
      endpoints: [{ addresses: [HUB_ADDRESS], conditions: { ready: true } }],
    },
  };
}

function dnsRole(): ClusterObject {
  return {
    path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:coredns",
    object: {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "system:coredns" },
      rules: [
        { apiGroups: [""], resources: ["namespaces", "pods", "services"], verbs: ["list", "watch"] },
        { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
      ],
    },
  };
}

function roleBinding(role: string, user: string): ClusterObject {
  const name = `quartermaster:${role}`;
  return {
    path: `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${name}`,
    object: {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
    },
  };
}

/** Port on which the name server says that it knows the cluster's Services. */
export const DNS_READY_PORT = 8181;

/** The name server's configuration. It knows the cluster's names; any other does not exist, because nothing else is reachable. */
export function desiredCorefile(kubeconfigPath: string): string {
  return `cluster.local:53 in-addr.arpa:53 ip6.arpa:53 {
  bind ${HUB_ADDRESS}
  errors
  ready ${HUB_ADDRESS}:${DNS_READY_PORT}
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfigPath}
    pods insecure
    ttl 5
  }
  cache 5
  loadbalance
}
.:53 {
  bind ${HUB_ADDRESS}
  errors
  template ANY ANY . {
    rcode NXDOMAIN
  }
}
`;
}
