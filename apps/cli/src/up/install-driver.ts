import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { clusterFolderOf } from "@quartermaster/local-cluster";

import type { Kubectl } from "./kubectl.ts";
import { repository } from "./repository.ts";

/** Makes the image of one of our programs and returns the directory of its layout. */
export async function makeProgramImage(name: "share-driver" | "search-exporter"): Promise<string> {
  const layout = join(repository, `dist/${name}-image`);
  const program = join(repository, "deploy/image/main.ts");
  const options = ["--image", name, "--output", layout, "--compression", "none"];
  await promisify(execFile)(process.execPath, [program, ...options]);
  return layout;
}

/** What is known of the cluster before it starts. */
export interface DriverPlace {
  readonly name: string;
  readonly profile: string | undefined;
  /** Of this process. */
  readonly userId: number | undefined;
}

/**
 * The words that make real nodes know the image of the share driver from their first pod on; none where nodes will be simulated, or the
 * cluster is there already.
 */
export async function wordsForDriver({ name, profile, userId }: DriverPlace): Promise<readonly string[]> {
  const mayHaveNodes = profile !== "control-plane" && userId === 0;
  if (!mayHaveNodes || existsSync(join(clusterFolderOf(name), "kubeconfig"))) return [];
  return ["--image", await makeProgramImage("share-driver")];
}

/** Runs the share driver on every real node, so that ClusterBundles mount, and waits until kubelet has registered it. */
export async function installDriver(kubectl: Kubectl): Promise<void> {
  await kubectl(["apply", "--server-side", "-f", join(repository, "deploy/share-driver.yaml")]);
  const driver = "quartermaster-share-driver";
  await kubectl(["-n", driver, "rollout", "status", `daemonset/${driver}`, "--timeout=120s"]);
}
