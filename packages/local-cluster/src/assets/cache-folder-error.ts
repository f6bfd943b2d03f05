import { LocalClusterError } from "../errors.ts";
import { codeOf } from "../system/file-error.ts";

/** Turns what the file system says about the binaries' cache into a sentence with a remedy; passes anything else on. */
export function cacheFolderError(folder: string, error: unknown): unknown {
  const code = codeOf(error);
  if (FULL.includes(code)) return cacheFolderFull(folder, error);
  if (!NOT_WRITABLE.includes(code)) return error;
  return new LocalClusterError(
    "StateFolderNotWritable",
    `The cache folder ${folder} cannot be written.`,
    "Make it writable for you, or name another one with XDG_CACHE_HOME.",
    { cause: error },
  );
}

/** The error for a disk without space. */
export function cacheFolderFull(folder: string, cause?: unknown): LocalClusterError {
  return new LocalClusterError(
    "StateFolderFull",
    `No space is left for the binaries of the local cluster in ${folder} or in Go's own caches.`,
    "Free about 6 GB, or name a roomier place with XDG_CACHE_HOME, GOCACHE and GOMODCACHE.",
    { cause },
  );
}

const FULL: readonly string[] = ["ENOSPC", "EDQUOT"];
const NOT_WRITABLE: readonly string[] = ["EACCES", "EPERM", "EROFS", "ENOTDIR"];
