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
  readonly contentType?: string;
  readonly accept?: string;
  /** Name, value, name, value … in addition to what every request has. */
  readonly headers?: readonly string[];
  readonly signal?: AbortSignal;
  /** Called with the status of a successful answer. */
  readonly onStatus?: (status: number) => void;
  /** Over all attempts (default: 30 s). */
  readonly timeoutMs?: number;
}

/** What a call is about, for messages. */
export interface Subject {
  /** Name of the kind, or the path where there is none. */
  readonly kind: string;
  readonly ref?: Partial<ObjectRef>;
}

/** `get ConfigMap default/settings`. */
export function describeRequest({
  verb,
  subject: { kind, ref },
}: Pick<ApiRequest, "verb" | "subject">): string {
  const place = [ref?.namespace, ref?.name].filter((part) => part !== undefined && part !== "").join("/");
  return place === "" ? `${verb} ${kind}` : `${verb} ${kind} ${place}`;
}

/** Whether objects behind this path hold credentials, which the server's messages may then quote. */
export function isSensitive(path: string): boolean {
  const [bare = ""] = path.split("?", 1);
  return /\/(?:secrets|tokenreviews|token)(?:\/|$)/.test(bare);
}
