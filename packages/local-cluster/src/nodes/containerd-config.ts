import { PAUSE_IMAGE } from "../images/pause-image.ts";
import type { NodePaths } from "./node-paths.ts";

/**
 * The configuration of a node's containerd (TOML). Nothing of it touches the machine's own containerd. No registry is
 * reachable from a node: images are imported. `restrict_oom_score_adj` does without a privilege that containers often lack.
 */
export function desiredContainerdConfig(paths: NodePaths, cniPluginFolder: string): string {
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
    [`${cri}.cni`]: { bin_dir: cniPluginFolder, conf_dir: paths.cniConfigFolder },
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
