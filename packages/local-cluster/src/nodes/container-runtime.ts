import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Component, type ReadinessProbe } from "../control-plane/component.ts";
import { PAUSE_IMAGE } from "../images/pause-image.ts";
import { type System, toolPath } from "../system/system.ts";
import { makeCgroup } from "./cgroups.ts";
import { makeMountNamespace } from "./network.ts";
import { nodeBinds, nodeOverlays, type NodePaths } from "./node-paths.ts";
import { accepts } from "./passage.ts";
import { runTool } from "./run-tool.ts";

export interface RuntimeFacts {
  readonly podSubnet: string;
  readonly cniPluginDirectory: string;
}

/** Starts a node's containerd in a mount namespace of its own and waits until it responds. */
export async function startContainerRuntime(
  location: NodeLocation,
  { podSubnet, cniPluginDirectory }: RuntimeFacts,
): Promise<Component> {
  const { directory, name, paths, system } = location;
  mkdirSync(paths.cniConfigDirectory, { recursive: true });
  writeFileSync(paths.containerdConfig, desiredContainerdConfig(paths, cniPluginDirectory));
  writeFileSync(
    join(paths.cniConfigDirectory, "10-pods.conflist"),
    JSON.stringify(desiredCniConfig(paths, podSubnet)),
  );
  const mounts = { overlays: nodeOverlays(directory, name), binds: nodeBinds(paths) };
  await makeMountNamespace(paths.mountNamespace, mounts, system);
  const runtime = startNodeProcess(
    {
      program: "containerd",
      command: "containerd",
      args: [`--config=${paths.containerdConfig}`],
      isReady: async () => await accepts({ path: paths.containerdSocket }),
    },
    location,
  );
  await runtime.ready();
  return runtime;
}

/** Makes an image known to a node: an OCI layout, as a directory or as an archive. Do it before the first pod that uses it. */
export async function importImage(paths: NodePaths, layout: string, system: System): Promise<void> {
  const script = statSync(layout).isDirectory() ? `tar -C "$1" -cf - . | ${IMPORT} -` : `${IMPORT} "$1"`;
  await runTool({ command: "sh", args: ["-ec", script, "sh", layout, paths.containerdSocket] }, system);
}

const IMPORT = `ctr --address "$2" --namespace k8s.io images import`;

/** Which node a process belongs to. */
export interface NodeLocation {
  readonly directory: string;
  readonly name: string;
  readonly paths: NodePaths;
  readonly system: System;
}

/** A process of a node. */
export interface NodeProcess {
  readonly program: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly isReady: ReadinessProbe;
}

/** Starts a process in the namespaces and the cgroup of its node; what it starts stays in there. */
export function startNodeProcess(
  { program, command, args, isReady }: NodeProcess,
  location: NodeLocation,
): Component {
  const { directory, name, paths, system } = location;
  return new Component({
    launchRequest: {
      name: `${name}-${program}`,
      directory,
      command: "nsenter",
      args: [`--net=${paths.networkNamespace}`, `--mount=${paths.mountNamespace}`, "--", command, ...args],
      env: { PATH: toolPath(system) },
      cgroupProcsFiles: makeCgroup(paths.systemCgroup),
    },
    isReady,
    system,
  });
}

/**
 * The configuration of a node's containerd (TOML). Nothing of it touches the machine's own containerd. No registry is
 * reachable from a node: images are imported. `restrict_oom_score_adj` does without a privilege that containers often lack.
 */
export function desiredContainerdConfig(paths: NodePaths, cniPluginDirectory: string): string {
  const cri = `plugins."io.containerd.grpc.v1.cri"`;
  return toToml({
    "": { version: 2, root: paths.containerdRoot, state: paths.containerdState },
    grpc: { address: paths.containerdSocket },
    ttrpc: { address: `${paths.containerdSocket}.ttrpc` },
    [`plugins."io.containerd.internal.v1.opt"`]: { path: `${paths.containerdRoot}/opt` },
    [cri]: {
      sandbox_image: PAUSE_IMAGE,
      disable_apparmor: true,
      restrict_oom_score_adj: true,
      netns_mounts_under_state_dir: true,
    },
    [`${cri}.cni`]: { bin_dir: cniPluginDirectory, conf_dir: paths.cniConfigDirectory },
    [`${cri}.containerd.runtimes.runc`]: { runtime_type: "io.containerd.runc.v2" },
    [`${cri}.containerd.runtimes.runc.options`]: { Root: paths.runcRoot, SystemdCgroup: false },
  });
}

type Section = Readonly<Record<string, string | number | boolean>>;

/** Strings of TOML and of JSON are the same for the characters that occur in paths and names. */
function toToml(sections: Readonly<Record<string, Section>>): string {
  return Object.entries(sections)
    .map(([name, section]) => {
      const lines = Object.entries(section).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
      return [...(name === "" ? [] : [`[${name}]`]), ...lines, ""].join("\n");
    })
    .join("\n");
}

/** The pod network of a node: a bridge whose address is the pods' way out, and addresses from the node's own range. */
export function desiredCniConfig(paths: NodePaths, subnet: string): Readonly<Record<string, unknown>> {
  return {
    cniVersion: "1.0.0",
    name: "pods",
    plugins: [
      {
        type: "bridge",
        bridge: "pods",
        isGateway: true,
        hairpinMode: true, // a pod reaches itself by way of its Service
        ipam: {
          type: "host-local",
          dataDir: paths.cniState,
          ranges: [[{ subnet }]],
          routes: [{ dst: "0.0.0.0/0" }],
        },
      },
    ],
  };
}
