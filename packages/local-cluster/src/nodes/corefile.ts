import { HUB_ADDRESS } from "./hub-commands.ts";

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
