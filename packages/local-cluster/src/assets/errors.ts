import { LocalClusterError } from "../errors.ts";
import { codeOf } from "../system/system.ts";
import type { Asset } from "./go-module.ts";
import type { NamedDirectory } from "./named-directory.ts";

export interface VainAttempts {
  readonly missing: readonly Asset[];
  readonly named: NamedDirectory | undefined;
  readonly releaseProblem: string;
  readonly goProblem: string;
}

/** The error when no way leads to the binaries: each way with its reason, and what the user can do. */
export function assetsUnavailable(
  { component, module, directory }: Asset,
  attempts: VainAttempts,
): LocalClusterError {
  const { missing, named, releaseProblem, goProblem } = attempts;
  const names = missing.map((asset) => asset.component.name).join(", ");
  const tried = [
    named === undefined
      ? "QM_KUBE_ASSETS and KUBEBUILDER_ASSETS: not set"
      : `${named.variable} (${named.directory}): has no ${component.name}`,
    `the cache (${directory}): has no ${component.name}`,
    `the official release of ${component.project} ${module.version}: ${releaseProblem}`,
    `a build from Go modules: ${goProblem}`,
  ];
  return new LocalClusterError(
    "AssetsUnavailable",
    `The binaries of the local cluster are missing (${names}) and cannot be had. Tried:\n${tried.map((way) => `  - ${way}`).join("\n")}\n`,
    `Install Go ${module.goVersion} or newer, or name a directory that holds the binaries in QM_KUBE_ASSETS, or allow access to the release sites.`,
  );
}

/** Turns what the file system says about the binaries' cache into a sentence with a remedy; passes anything else on. */
export function cacheDirectoryError(directory: string, error: unknown): unknown {
  const code = codeOf(error);
  if (FULL.includes(code)) return cacheDirectoryFull(directory, error);
  if (!NOT_WRITABLE.includes(code)) return error;
  return new LocalClusterError(
    "StateFolderNotWritable",
    `The cache directory ${directory} cannot be written.`,
    "Make it writable for you, or name another one with XDG_CACHE_HOME.",
    { cause: error },
  );
}

/** The error for a disk without space. */
export function cacheDirectoryFull(directory: string, cause?: unknown): LocalClusterError {
  return new LocalClusterError(
    "StateFolderFull",
    `No space is left for the binaries of the local cluster in ${directory} or in Go's own caches.`,
    "Free about 6 GB, or name a roomier place with XDG_CACHE_HOME, GOCACHE and GOMODCACHE.",
    { cause },
  );
}

const FULL: readonly string[] = ["ENOSPC", "EDQUOT"];
const NOT_WRITABLE: readonly string[] = ["EACCES", "EPERM", "EROFS", "ENOTDIR"];
