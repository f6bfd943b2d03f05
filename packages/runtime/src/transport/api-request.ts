import type { Impersonation } from "../config/cluster-config.ts";
import type { ObjectRef } from "../object/kube-object.ts";

/** One call to the API server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query below the server's address; segments are encoded already. */
  readonly path: string;
  /** Kubernetes' word for it, e.g. `list`: for messages and metrics. */
  readonly verb: string;
  readonly subject: Subject;
  readonly body?: unknown;
  /** Default: `application/json`. */
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  /** Name, value, name, value … in addition to what every request has. */
  readonly headers?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the status of a successful response. */
  readonly onStatus?: ((status: number) => void) | undefined;
  /** Over all attempts (default: 30 s). */
  readonly timeoutMs?: number | undefined;
  /** Longer strings of a successful response are emptied while they arrive, and never held (default: nothing is). */
  readonly textLimitBytes?: number | undefined;
}

export interface Subject {
  /** Name of the kind, or the path where there is none. */
  readonly kind: string;
  readonly ref?: Partial<ObjectRef> | undefined;
}

/** `get ConfigMap default/settings`. */
export function describeRequest({
  verb,
  subject: { kind, ref },
}: Pick<ApiRequest, "verb" | "subject">): string {
  const location = [ref?.namespace, ref?.name].filter((part) => part !== undefined && part !== "").join("/");
  return location === "" ? `${verb} ${kind}` : `${verb} ${kind} ${location}`;
}

/** Whether objects behind this path hold credentials, which the server's messages may then quote. */
export function isSensitive(path: string): boolean {
  const [bare = ""] = path.split("?", 1);
  return /\/(?:secrets|tokenreviews|token)(?:\/|$)/.test(bare);
}

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

/** The headers that impersonate: name, value, name, value. */
export function impersonationHeaders({
  user,
  groups = [],
  uid,
  extra = {},
}: Impersonation): readonly string[] {
  return [
    "impersonate-user",
    user,
    ...groups.flatMap((group) => ["impersonate-group", group]),
    ...(uid === undefined ? [] : ["impersonate-uid", uid]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.flatMap((value) => [`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`, value]),
    ),
  ];
}
