import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { compareDottedVersions } from "@quartermaster/runtime/versions";

import { LocalClusterError } from "../errors.ts";
import type { GoModule } from "./go-module.ts";
import { readGoModule } from "./go-module.ts";

/** The Kubernetes modules below `goFolder`, newest minor first; the first one is the default. */
export async function readKubernetesModules(goFolder: string): Promise<readonly GoModule[]> {
  const folders = (await readdir(goFolder)).filter((name) => /^kubernetes-\d+\.\d+$/.test(name));
  const modules = await Promise.all(
    folders.map(async (name) => await readGoModule("kubernetes", join(goFolder, name))),
  );
  return modules.toSorted((a, b) => compareDottedVersions(b.version, a.version));
}

/**
 * Picks the module for what a person asked for: `1.35`, `1.35.4` or `v1.35.4`; nothing means the newest.
 * Throws `UnsupportedVersion`, naming what there is.
 */
export function chooseKubernetes(modules: readonly GoModule[], wanted: string | undefined): GoModule {
  const asked = wanted?.trim().replace(/^v/, "");
  const chosen = modules.find(
    ({ version }) => asked === undefined || asked === version.slice(1) || asked === minorOf(version),
  );
  if (chosen !== undefined) return chosen;
  const offers = modules.map(({ version }) => `${minorOf(version)} (${version})`).join(", ");
  throw new LocalClusterError(
    "UnsupportedVersion",
    `Kubernetes "${wanted ?? ""}" is not supported.`,
    `Choose one of ${offers}.`,
  );
}

/** `1.36` for `v1.36.3`. */
export function minorOf(version: string): string {
  return version.replace(/^v/, "").split(".").slice(0, 2).join(".");
}
