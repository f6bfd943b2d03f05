import type { ApiRequest } from "./request.ts";

/** The parts of a server's address that requests need. */
export interface ServerAddress {
  readonly origin: string;
  /** Without a slash at its end; empty for most servers. */
  readonly basePath: string;
  readonly host: string;
}

/** Takes a server's address apart. */
export function serverAddress(server: string): ServerAddress {
  const { origin, pathname, host } = new URL(server);
  return { origin, basePath: pathname.replace(/\/+$/, ""), host };
}

/** All headers of a request as undici takes them fastest: name, value, name, value. */
export function headersOf(
  { accept = "application/json", body, contentType = "application/json", headers = [] }: ApiRequest,
  authorization: string | undefined,
  userAgent: string,
): string[] {
  const list = ["accept", accept, "user-agent", userAgent, ...headers];
  if (authorization !== undefined) list.push("authorization", authorization);
  if (body !== undefined) list.push("content-type", contentType);
  return list;
}
