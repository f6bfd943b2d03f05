import { LocalClusterError } from "../errors.ts";

/** Throws NotLinux elsewhere: etcd and the API server would run, but nothing could tell whose processes they are. */
export function assertLinux(platform: NodeJS.Platform): void {
  if (platform === "linux") return;
  throw new LocalClusterError(
    "NotLinux",
    `A local cluster needs Linux; this is ${platform}.`,
    "Run it in a Linux virtual machine, or use an existing cluster by its kubeconfig.",
  );
}
