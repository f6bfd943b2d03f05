import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Component } from "../control-plane/component.ts";
import type { System } from "../system/system.ts";
import { desiredCniConfig } from "./cni-config.ts";
import { desiredContainerdConfig } from "./containerd-config.ts";
import { makeMountNamespace } from "./namespaces.ts";
import { nodeBinds, nodeOverlays, type NodePaths } from "./node-paths.ts";
import { type NodePlace, startNodeProcess } from "./node-process.ts";
import { accepts } from "./passage.ts";
import { runTool } from "./run-tool.ts";

/** What differs between the runtimes of two nodes, and of two machines. */
export interface RuntimeFacts {
  readonly podSubnet: string;
  readonly cniPluginFolder: string;
}

/** Starts a node's containerd in a mount namespace of its own and waits until it answers. */
export async function startContainerRuntime(
  place: NodePlace,
  { podSubnet, cniPluginFolder }: RuntimeFacts,
): Promise<Component> {
  const { folder, name, paths, system } = place;
  mkdirSync(paths.cniConfigFolder, { recursive: true });
  writeFileSync(paths.containerdConfig, desiredContainerdConfig(paths, cniPluginFolder));
  writeFileSync(
    join(paths.cniConfigFolder, "10-pods.conflist"),
    JSON.stringify(desiredCniConfig(paths, podSubnet)),
  );
  const mounts = { overlays: nodeOverlays(folder, name), binds: nodeBinds(paths) };
  await makeMountNamespace(paths.mountNamespace, mounts, system);
  const runtime = startNodeProcess(
    {
      program: "containerd",
      command: "containerd",
      args: [`--config=${paths.containerdConfig}`],
      isReady: async () => await accepts({ path: paths.containerdSocket }),
    },
    place,
  );
  await runtime.ready();
  return runtime;
}

/** Makes an image known to a node: an OCI layout, as a folder or as an archive. Do it before the first pod that uses it. */
export async function importImage(paths: NodePaths, layout: string, system: System): Promise<void> {
  const script = statSync(layout).isDirectory() ? `tar -C "$1" -cf - . | ${IMPORT} -` : `${IMPORT} "$1"`;
  await runTool({ command: "sh", args: ["-ec", script, "sh", layout, paths.containerdSocket] }, system);
}

const IMPORT = `ctr --address "$2" --namespace k8s.io images import`;
