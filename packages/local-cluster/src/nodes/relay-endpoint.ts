import type { TcpNetConnectOpts, IpcNetConnectOpts } from "node:net";

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

/** What a relay writes to its log once it accepts connections; with its pid, because the log may be that of an earlier one too. */
export function listeningLine(pid: number): string {
  return `relay ${pid} is listening`;
}
