/** Where the API server and the name server are: one address on the bridge that joins all nodes. */
export const HUB_ADDRESS = "172.30.0.1";
/** Port of the API server inside the cluster. */
export const API_PORT = 6443;
/** ClusterIP of the name server, which every pod uses. */
export const DNS_SERVICE_ADDRESS = "10.96.0.10";
/** Pods get their addresses from here, a /24 for each node. */
export const POD_CIDR = "10.244.0.0/16";
/** Nodes have an address and a pod network each; this is how many fit. */
export const MAX_NODES = 200;

/** Address of the `index`th node, counted from 1. */
export function nodeAddress(index: number): string {
  return `172.30.0.${10 + index}`;
}

/** Addresses of the pods on the `index`th node. */
export function podSubnet(index: number): string {
  return `10.244.${index}.0/24`;
}

/** The node's end of the cable in the hub. Interface names are limited to 15 characters. */
export function hubLink(index: number): string {
  return `node${index}`;
}

/**
 * What `ip -batch` does to an empty namespace to make it the hub. There is no link to the machine's own network: nothing
 * that happens in the cluster can leave it.
 */
export function hubCommands(): readonly string[] {
  return [
    "link set lo up",
    `link add ${BRIDGE} type bridge`,
    `address add ${HUB_ADDRESS}/24 dev ${BRIDGE}`,
    `link set ${BRIDGE} up`,
  ];
}

/** What `ip -batch` does in the hub to plug a node in. */
export function plugNodeCommands(index: number, nodeNamespace: string): readonly string[] {
  return [
    `link add ${hubLink(index)} type veth peer name eth0 netns ${nodeNamespace}`,
    `link set ${hubLink(index)} master ${BRIDGE}`,
    `link set ${hubLink(index)} up`,
    `route add ${podSubnet(index)} via ${nodeAddress(index)}`,
  ];
}

/** What `ip -batch` does in the node's namespace. Pods of other nodes are reached directly, all else by way of the hub. */
export function nodeCommands(index: number, count: number): readonly string[] {
  const others = indexes(count).filter((other) => other !== index);
  return [
    "link set lo up",
    `address add ${nodeAddress(index)}/24 dev eth0`,
    "link set eth0 up",
    `route add default via ${HUB_ADDRESS}`,
    ...others.map((other) => `route add ${podSubnet(other)} via ${nodeAddress(other)}`),
  ];
}

/** How the API server reaches Services (a webhook in a pod): over any node, because each runs a kube-proxy. */
export function serviceRouteCommand(serviceCidr: string, count: number): string {
  if (count === 1) return `route replace ${serviceCidr} via ${nodeAddress(1)}`;
  return `route replace ${serviceCidr} ${indexes(count)
    .map((index) => `nexthop via ${nodeAddress(index)}`)
    .join(" ")}`;
}

const BRIDGE = "cluster";

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
