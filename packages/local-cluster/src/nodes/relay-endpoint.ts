import { BlockList, type IpcNetConnectOpts, isIPv4, type TcpNetConnectOpts } from "node:net";

import { SERVICE_CIDR } from "../control-plane/api-server-arguments.ts";
import { POD_CIDR } from "./network.ts";

/** One end of a relay, as `node:net` takes it for listening and for connecting. */
export type RelayEndpoint = TcpNetConnectOpts | IpcNetConnectOpts;

/** Reads `tcp:host:port` or `unix:/path`; throws on anything else. */
export function parseRelayEndpoint(text: string): RelayEndpoint {
  const unix = /^unix:(?<path>\/.+)$/.exec(text)?.groups;
  if (unix?.["path"] !== undefined) return { path: unix["path"] };
  const tcp = /^tcp:(?<host>[^:]+):(?<port>\d+)$/.exec(text)?.groups;
  if (tcp?.["host"] !== undefined) return { host: tcp["host"], port: Number(tcp["port"]) };
  throw new Error(`"${text}" is neither tcp:host:port nor unix:/path`);
}

/** Line that a relay writes to its log once it accepts connections; with its pid, because the log may be that of an earlier one too. */
export function listeningLine(pid: number): string {
  return `relay ${pid} is listening`;
}

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
