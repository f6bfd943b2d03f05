import { BlockList, isIPv4 } from "node:net";

import { SERVICE_CIDR } from "../control-plane/api-server-arguments.ts";
import { POD_CIDR } from "./hub-commands.ts";

/** A port of a pod or a Service. */
export interface PodTarget {
  readonly host: string;
  readonly port: number;
}

/** Reads `address:port`; undefined unless it is one of a pod or a Service. */
export function parsePodTarget(text: string): PodTarget | undefined {
  const { host = "", port = "" } = /^(?<host>[\d.]{7,15}):(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  const number = Number(port);
  if (!isIPv4(host) || number < 1 || number > 65_535 || !reachable.check(host)) return undefined;
  return { host, port: number };
}

const reachable = new BlockList();
for (const [address = "", bits] of [POD_CIDR, SERVICE_CIDR].map((cidr) => cidr.split("/")))
  reachable.addSubnet(address, Number(bits), "ipv4");
