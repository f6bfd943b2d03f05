import { access, constants, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

import { LocalClusterError } from "../errors.ts";
import type { System } from "../system/system.ts";
import type { ComponentName } from "./component.ts";

/** Binaries a user has named a directory for. */
export interface NamedDirectory {
  readonly variable: "QM_KUBE_ASSETS" | "KUBEBUILDER_ASSETS";
  readonly directory: string;
  readonly paths: ReadonlyMap<ComponentName, string>;
}

/**
 * Reads `QM_KUBE_ASSETS`, which must hold every component requested, or else `KUBEBUILDER_ASSETS`, which by convention
 * holds etcd, kube-apiserver and kubectl only: what it lacks is found in the other ways. Undefined when neither is set.
 */
export async function readNamedDirectory(
  components: readonly ComponentName[],
  system: System,
): Promise<NamedDirectory | undefined> {
  const variable = system.env["QM_KUBE_ASSETS"] ? "QM_KUBE_ASSETS" : "KUBEBUILDER_ASSETS";
  const named = system.env[variable];
  if (!named) return undefined;
  const directory = resolve(named);
  const paths = new Map<ComponentName, string>();
  for (const component of components) {
    const path = join(directory, component);
    if (await isExecutableFile(path)) paths.set(component, path);
  }
  const missing = components.filter((component) => !paths.has(component));
  if (variable === "QM_KUBE_ASSETS" && missing.length > 0) throw assetMissing(directory, missing);
  return { variable, directory, paths };
}

function assetMissing(directory: string, missing: readonly ComponentName[]): LocalClusterError {
  return new LocalClusterError(
    "AssetMissing",
    `The directory ${directory}, named by QM_KUBE_ASSETS, lacks ${missing.join(", ")} (as an executable file).`,
    "Put it there, or unset QM_KUBE_ASSETS to have the binaries fetched or built.",
  );
}

async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    // Not there or not ours to run: either way it cannot be used.
    return false;
  }
}
