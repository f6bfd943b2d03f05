import { mkdirSync, writeFileSync } from "node:fs";

import { stringify } from "yaml";

import type { ApiClient } from "../api/api-client.ts";
import type { Component, ComponentHandle } from "../control-plane/component.ts";
import type { ClusterCredentials } from "../pki/cluster-credentials.ts";
import type { System } from "../system/system.ts";
import { KUBE_PROXY_USER } from "./cluster-objects.ts";
import { importImage, startContainerRuntime } from "./container-runtime.ts";
import { HUB_ADDRESS, nodeAddress, podSubnet } from "./hub-commands.ts";
import { isKubeProxyHealthy, isNodeReady } from "./is-node-ready.ts";
import { desiredKubeProxyConfig } from "./kube-proxy-config.ts";
import { desiredKubeletConfig, kubeletArguments } from "./kubelet-config.ts";
import { setNodeLink } from "./network.ts";
import { nodePaths } from "./node-paths.ts";
import { type NodePlace, startNodeProcess } from "./node-process.ts";
import type { NumberedNode } from "./node-specs.ts";

/** A real node, and the faults a test may bring upon it. */
export interface NodeHandle {
  readonly name: string;
  readonly zone: string;
  /** Its address inside the cluster. */
  readonly address: string;
  readonly kubelet: ComponentHandle;
  readonly containerd: ComponentHandle;
  readonly kubeProxy: ComponentHandle;
  /** Pulls the node's network cable: it goes on running, and nobody can reach it. */
  cutOff(): Promise<void>;
  /** Plugs the cable in again. */
  restore(): Promise<void>;
  /** Makes an image known to the node: an OCI layout, as a folder or as an archive. */
  importImage(layout: string): Promise<void>;
}

/** Programs that run on a node. */
export interface NodeBinaries {
  readonly kubelet: string;
  readonly "kube-proxy": string;
}

/** What all nodes of a cluster have in common. */
export interface NodeSurroundings {
  readonly folder: string;
  readonly binaries: NodeBinaries;
  readonly credentials: Pick<ClusterCredentials, "caFiles" | "serving">;
  readonly kubeconfigFor: (user: string, groups: readonly string[]) => Promise<string>;
  readonly api: ApiClient;
  readonly cniPluginFolder: string;
  /** Layouts that are imported before the first pod. */
  readonly images: readonly string[];
  readonly system: System;
  readonly signal?: AbortSignal;
}

/** Starts everything that runs on one node, whose network is there already, and waits until it is Ready. */
export async function startNode(request: NumberedNode, environment: NodeSurroundings): Promise<NodeHandle> {
  const { folder, system, images, cniPluginFolder, signal } = environment;
  const { name, zone, index } = request;
  const paths = nodePaths(folder, name);
  const place: NodePlace = { folder, name, paths, system };
  mkdirSync(paths.volumes, { recursive: true });
  writeFileSync(paths.resolvConf, `nameserver ${HUB_ADDRESS}\n`);
  const containerd = await startContainerRuntime(place, { podSubnet: podSubnet(index), cniPluginFolder });
  for (const image of images) await importImage(paths, image, system);
  const kubelet = await startKubelet(request, place, environment);
  const kubeProxy = await startKubeProxy(request, place, environment);
  await Promise.all([kubelet.ready(signal), kubeProxy.ready(signal)]);
  return {
    name,
    zone,
    address: nodeAddress(index),
    kubelet,
    containerd,
    kubeProxy,
    cutOff: async () => await setNodeLink(folder, { index, state: "down" }, system),
    restore: async () => await setNodeLink(folder, { index, state: "up" }, system),
    importImage: async (layout) => await importImage(paths, layout, system),
  };
}

async function startKubelet(
  { name, zone, index }: NumberedNode,
  place: NodePlace,
  environment: NodeSurroundings,
): Promise<Component> {
  const { credentials, kubeconfigFor, binaries, api } = environment;
  const address = nodeAddress(index);
  const facts = {
    name,
    zone,
    address,
    paths: place.paths,
    clientCaPath: credentials.caFiles.certificatePath,
    serving: await credentials.serving(name, { dnsNames: [name], ipAddresses: [address] }),
    kubeconfigPath: await kubeconfigFor(`system:node:${name}`, ["system:nodes"]),
  };
  writeFileSync(place.paths.kubeletConfig, stringify(desiredKubeletConfig(facts)));
  const isReady = async (): Promise<boolean> => await isNodeReady(name, api);
  return startNodeProcess(
    { program: "kubelet", command: binaries.kubelet, args: kubeletArguments(facts), isReady },
    place,
  );
}

async function startKubeProxy(
  { name, index }: NumberedNode,
  place: NodePlace,
  { binaries, kubeconfigFor, api }: NodeSurroundings,
): Promise<Component> {
  const { kubeProxyConfig } = place.paths;
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
    place,
  );
}
