import { Component } from "../control-plane/component.ts";
import type { ReadinessProbe } from "../control-plane/component.ts";
import type { System } from "../system/system.ts";
import { toolPath } from "../system/tool-path.ts";
import { makeCgroup } from "./cgroups.ts";
import type { NodePaths } from "./node-paths.ts";

/** Which node a process belongs to. */
export interface NodePlace {
  readonly folder: string;
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
  place: NodePlace,
): Component {
  const { folder, name, paths, system } = place;
  return new Component({
    launchRequest: {
      name: `${name}-${program}`,
      folder,
      command: "nsenter",
      args: [`--net=${paths.networkNamespace}`, `--mount=${paths.mountNamespace}`, "--", command, ...args],
      env: { PATH: toolPath(system) },
      cgroupProcsFiles: makeCgroup(paths.systemCgroup),
    },
    isReady,
    system,
  });
}
