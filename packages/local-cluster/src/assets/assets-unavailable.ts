import { LocalClusterError } from "../errors.ts";
import type { Asset } from "./asset.ts";
import type { NamedFolder } from "./named-folder.ts";

/** What was tried in vain. */
export interface VainAttempts {
  readonly missing: readonly Asset[];
  readonly named: NamedFolder | undefined;
  readonly releaseFault: string;
  readonly goFault: string;
}

/** The error when no way leads to the binaries: each way with its reason, and what the person can do. */
export function assetsUnavailable(
  { component, module, folder }: Asset,
  attempts: VainAttempts,
): LocalClusterError {
  const { missing, named, releaseFault, goFault } = attempts;
  const names = missing.map((asset) => asset.component.name).join(", ");
  const tried = [
    named === undefined
      ? "QM_KUBE_ASSETS and KUBEBUILDER_ASSETS: not set"
      : `${named.variable} (${named.folder}): has no ${component.name}`,
    `the cache (${folder}): has no ${component.name}`,
    `the official release of ${component.project} ${module.version}: ${releaseFault}`,
    `a build from Go modules: ${goFault}`,
  ];
  return new LocalClusterError(
    "AssetsUnavailable",
    `The binaries of the local cluster are missing (${names}) and cannot be had. Tried:\n${tried.map((way) => `  - ${way}`).join("\n")}\n`,
    `Install Go ${module.goVersion} or newer, or name a folder that holds the binaries in QM_KUBE_ASSETS, or allow access to the release sites.`,
  );
}
