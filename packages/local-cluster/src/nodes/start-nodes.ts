import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { stringify } from "yaml";

import type { ApiClient } from "../api/api-client.ts";
import { Component, type ComponentHandle } from "../control-plane/component.ts";
import { LocalClusterError } from "../errors.ts";
import { writePauseImage } from "../images/pause-image.ts";
import type { ClusterCredentials } from "../pki/cluster-credentials.ts";
import type { System } from "../system/system.ts";
import { desiredCorefile, DNS_USER, KUBE_PROXY_USER, nodeObjects } from "./cluster-objects.ts";
import {
  importImage,
  type NodeLocation,
  startContainerRuntime,
  startNodeProcess,
} from "./container-runtime.ts";
import { isDnsReady, isKubeProxyHealthy, isNodeReady } from "./is-node-ready.ts";
import { desiredKubeletConfig, desiredKubeProxyConfig, kubeletArguments } from "./kubelet-config.ts";
import {
  HUB,
  HUB_ADDRESS,
  joinNodes,
  makeHub,
  MAX_NODES,
  networkNamespaceFile,
  nodeAddress,
  openNamespaceDirectory,
  podSubnet,
  setNodeLink,
} from "./network.ts";
import { nodePaths } from "./node-paths.ts";

/** The place where the control plane of a cluster with real nodes runs. */
export interface Hub {
  readonly networkNamespace: string;
  /** The API server's address as the nodes see it. */
  readonly address: string;
}

/** Makes the namespace that the control plane is to be started in. */
export async function openHub(directory: string, system: System): Promise<Hub> {
  await openNamespaceDirectory(directory, system);
  return { networkNamespace: await makeHub(directory, system), address: HUB_ADDRESS };
}

export interface NodesOptions extends NodeEnvironment {
  readonly nodes: readonly NodeSpec[];
  readonly corednsPath: string;
}

/** Starts the nodes and the name server of a cluster whose control plane runs in the hub. Resolves when all are Ready. */
export async function startNodes(options: NodesOptions): Promise<readonly NodeHandle[]> {
  const { directory, api, system } = options;
  const nodes = numberNodes(options.nodes);
  const [pause] = await Promise.all([
    writePauseImage(join(directory, "images", "pause")),
    joinNodes({ directory, nodeNames: nodes.map(({ name }) => name) }, system),
    ...nodeObjects().map(async ({ path, object }) => await api.apply(path, object)),
  ]);
  const images = [pause.directory, ...options.images];
  const [handles] = await Promise.all([
    Promise.all(nodes.map(async (node) => await startNode(node, { ...options, images }))),
    startNameServer(options),
  ]);
  return handles;
}

async function startNameServer({
  directory,
  corednsPath,
  kubeconfigFor,
  system,
  signal,
}: NodesOptions): Promise<void> {
  const corefile = join(directory, "Corefile");
  writeFileSync(corefile, desiredCorefile(await kubeconfigFor(DNS_USER, [])));
  const networkNamespace = networkNamespaceFile(directory, HUB);
  const server = new Component({
    launchRequest: {
      name: "coredns",
      directory,
      command: corednsPath,
      args: [`-conf=${corefile}`],
      networkNamespace,
    },
    isReady: async () => await isDnsReady(directory, system),
    system,
  });
  await server.ready(signal);
}

/** A node as it is requested. */
export interface NodeSpec {
  readonly name: string;
  /** Value of the label topology.kubernetes.io/zone. */
  readonly zone: string;
}

/** A node with its position among the others, counted from 1: its addresses follow from it. */
export interface NumberedNode extends NodeSpec {
  readonly index: number;
}

/** Numbers the nodes; throws when a name occurs twice or cannot be a node's, or when they are too many. */
export function numberNodes(specs: readonly NodeSpec[]): readonly NumberedNode[] {
  if (specs.length > MAX_NODES)
    throw invalid(`A local cluster has at most ${MAX_NODES} nodes, not ${specs.length}.`);
  for (const { name } of specs) {
    if (!NODE_NAME.test(name)) throw invalid(`"${name}" cannot be the name of a node.`);
    if (specs.filter((other) => other.name === name).length > 1)
      throw invalid(`Two nodes are called "${name}".`);
  }
  return specs.map((spec, position) => ({ ...spec, index: position + 1 }));
}

/** A short DNS label: the name becomes part of the path of a socket. "hub" is the place of the control plane. */
const NODE_NAME = /^(?!hub$)[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/;

function invalid(problem: string): LocalClusterError {
  return new LocalClusterError("InvalidNodes", problem, "Change the list of nodes.");
}

/** A real node, and the faults a test may bring upon it. */
export interface NodeHandle {
  readonly name: string;
  readonly zone: string;
  /** Its address inside the cluster. */
  readonly address: string;
  readonly kubelet: ComponentHandle;
  readonly containerd: ComponentHandle;
  readonly kubeProxy: ComponentHandle;
  /** Pulls the node's network cable: it continues running, and no one can reach it. */
  cutOff(): Promise<void>;
  /** Plugs the cable in again. */
  restore(): Promise<void>;
  /** Makes an image known to the node: an OCI layout, as a directory or as an archive. */
  importImage(layout: string): Promise<void>;
}

/** Programs that run on a node. */
export interface NodeBinaries {
  readonly kubelet: string;
  readonly "kube-proxy": string;
}

export interface NodeEnvironment {
  readonly directory: string;
  readonly binaries: NodeBinaries;
  readonly credentials: Pick<ClusterCredentials, "caFiles" | "serving">;
  readonly kubeconfigFor: (user: string, groups: readonly string[]) => Promise<string>;
  readonly api: ApiClient;
  readonly cniPluginDirectory: string;
  /** Layouts that are imported before the first pod. */
  readonly images: readonly string[];
  readonly system: System;
  readonly signal?: AbortSignal;
}

/** Starts everything that runs on one node, whose network is there already, and waits until it is Ready. */
async function startNode(request: NumberedNode, environment: NodeEnvironment): Promise<NodeHandle> {
  const { directory, system, images, cniPluginDirectory, signal } = environment;
  const { name, zone, index } = request;
  const paths = nodePaths(directory, name);
  const location: NodeLocation = { directory, name, paths, system };
  mkdirSync(paths.volumes, { recursive: true });
  writeFileSync(paths.resolvConf, `nameserver ${HUB_ADDRESS}\n`);
  const containerd = await startContainerRuntime(location, {
    podSubnet: podSubnet(index),
    cniPluginDirectory,
  });
  for (const image of images) await importImage(paths, image, system);
  const kubelet = await startKubelet(request, location, environment);
  const kubeProxy = await startKubeProxy(request, location, environment);
  await Promise.all([kubelet.ready(signal), kubeProxy.ready(signal)]);
  return {
    name,
    zone,
    address: nodeAddress(index),
    kubelet,
    containerd,
    kubeProxy,
    cutOff: async () => await setNodeLink(directory, { index, state: "down" }, system),
    restore: async () => await setNodeLink(directory, { index, state: "up" }, system),
    importImage: async (layout) => await importImage(paths, layout, system),
  };
}

async function startKubelet(
  { name, zone, index }: NumberedNode,
  location: NodeLocation,
  environment: NodeEnvironment,
): Promise<Component> {
  const { credentials, kubeconfigFor, binaries, api } = environment;
  const address = nodeAddress(index);
  const facts = {
    name,
    zone,
    address,
    paths: location.paths,
    clientCaPath: credentials.caFiles.certificatePath,
    serving: await credentials.serving(name, { dnsNames: [name], ipAddresses: [address] }),
    kubeconfigPath: await kubeconfigFor(`system:node:${name}`, ["system:nodes"]),
  };
  writeFileSync(location.paths.kubeletConfig, stringify(desiredKubeletConfig(facts)));
  const isReady = async (): Promise<boolean> => await isNodeReady(name, api);
  return startNodeProcess(
    { program: "kubelet", command: binaries.kubelet, args: kubeletArguments(facts), isReady },
    location,
  );
}

async function startKubeProxy(
  { name, index }: NumberedNode,
  location: NodeLocation,
  { binaries, kubeconfigFor, api }: NodeEnvironment,
): Promise<Component> {
  const { kubeProxyConfig } = location.paths;
  const kubeconfigPath = await kubeconfigFor(KUBE_PROXY_USER, []);
  writeFileSync(
    kubeProxyConfig,
    stringify(desiredKubeProxyConfig({ name, address: nodeAddress(index), kubeconfigPath })),
  );
  const isReady = async (): Promise<boolean> => await isKubeProxyHealthy(name, api);
  return startNodeProcess(
    {
      program: "kube-proxy",
      command: binaries["kube-proxy"],
      args: [`--config=${kubeProxyConfig}`],
      isReady,
    },
    location,
  );
}
