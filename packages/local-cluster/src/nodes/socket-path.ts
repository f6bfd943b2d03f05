import { join } from "node:path";

import { LocalClusterError } from "../errors.ts";

/** The kernel's limit for the path of a unix socket, in bytes, without the closing zero. */
export const SOCKET_PATH_LIMIT_BYTES = 107;
/** The longest name of a socket that we make below a cluster's folder. */
const LONGEST_SOCKET = "etcd-stale-relay.sock";

/** Throws PathTooLong when our sockets would not fit below `folder`. */
export function assertSocketsFit(folder: string): void {
  const lengthBytes = Buffer.byteLength(join(folder, LONGEST_SOCKET));
  if (lengthBytes <= SOCKET_PATH_LIMIT_BYTES) return;
  throw new LocalClusterError(
    "PathTooLong",
    `The folder ${folder} is too deep: a unix socket's path may have ${SOCKET_PATH_LIMIT_BYTES} bytes, and ours would have ${lengthBytes}.`,
    "Choose a folder with a shorter path.",
  );
}
