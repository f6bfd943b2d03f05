import { LocalClusterError } from "../errors.ts";

/** Operating system and processor in Go's words. */
export interface Platform {
  readonly os: "linux";
  readonly arch: "amd64" | "arm64";
}

/** This machine; throws `NotLinux` where a local cluster cannot run. */
export function thisPlatform(): Platform {
  const arch = ARCHITECTURES[process.arch];
  if (process.platform === "linux" && arch !== undefined) return { os: "linux", arch };
  throw new LocalClusterError(
    "NotLinux",
    `A local cluster needs Linux on x64 or arm64, and this is ${process.platform} on ${process.arch}.`,
    "Use a Linux machine, or point Quartermaster at an existing cluster with --kubeconfig.",
  );
}

const ARCHITECTURES: Readonly<Record<string, Platform["arch"]>> = { x64: "amd64", arm64: "arm64" };
