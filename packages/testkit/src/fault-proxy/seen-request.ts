import type { IncomingHttpHeaders } from "node:http";

import { z } from "zod";

/** A request to the API server as the proxy sees it, before anything is done about it. */
export interface SeenRequest {
  /** Counts from 1 for each proxy. */
  readonly sequence: number;
  readonly method: string;
  readonly path: string;
  /** What the API server calls it: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  readonly group: string;
  /** Plural, e.g. `configmaps`; empty for what is no resource. */
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** Of a create, the name that its body requests. */
  readonly name: string | undefined;
  readonly fieldManager: string | undefined;
  readonly isDryRun: boolean;
  readonly impersonatedUser: string | undefined;
  /** Which reconcile requested it, where the operator says so. */
  readonly reconcileId: string | undefined;
}

/** Chooses the requests that a fault is meant for. */
export type RequestMatch = (request: SeenRequest) => boolean;

/** True for requests that change something, except events and leases: those are written all the time by design. */
export function isWritePoint({ verb, resource, isDryRun }: SeenRequest): boolean {
  return WRITES.has(verb) && !isDryRun && resource !== "events" && resource !== "leases";
}

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** Reads a request line and its headers. */
export function describeRequest(
  {
    method,
    url,
    headers,
  }: { readonly method: string; readonly url: string; readonly headers: IncomingHttpHeaders },
  sequence: number,
): SeenRequest {
  const { pathname, searchParams } = new URL(url, "https://api");
  const location = parsePath(pathname);
  return {
    sequence,
    method,
    path: url,
    ...location,
    verb: verbOf(method, location, searchParams),
    fieldManager: searchParams.get("fieldManager") ?? undefined,
    isDryRun: searchParams.has("dryRun"),
    impersonatedUser: firstOf(headers["impersonate-user"]),
    reconcileId: firstOf(headers["x-quartermaster-reconcile-id"]),
  };
}

interface Location {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** `/api/v1/namespaces/NS/pods/NAME/status`, `/apis/apps/v1/deployments`, and the namespaces themselves. */
function parsePath(pathname: string): Location {
  const [root, ...parts] = pathname.split("/").slice(1).map(decodeURIComponent);
  if (root === "api") return locationOf("", parts.slice(1));
  if (root === "apis") return locationOf(parts[0] ?? "", parts.slice(2));
  return locationOf("", []);
}

function locationOf(group: string, parts: readonly string[]): Location {
  const isInside =
    parts[0] === "namespaces" && parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2] ?? "");
  const [resource = "", name, subresource] = isInside ? parts.slice(2) : parts;
  return { group, resource, subresource, namespace: isInside ? parts[1] : undefined, name };
}

const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);

function verbOf(method: string, { name }: Location, query: URLSearchParams): string {
  const isOfOne = name !== undefined;
  switch (method) {
    case "GET":
      if (["true", "1"].includes(query.get("watch") ?? "")) return "watch";
      return isOfOne ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return isOfOne ? "delete" : "deletecollection";
    default:
      return method.toLowerCase();
  }
}

function firstOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.[0];
}

/** Name that a create requests; undefined where the server makes it. */
export function createdName(method: string, body: Buffer): string | undefined {
  if (method !== "POST") return undefined;
  try {
    return createBody.parse(JSON.parse(body.toString("utf8"))).metadata?.name;
  } catch {
    return undefined;
  }
}

const createBody = z.object({ metadata: z.object({ name: z.string().optional() }).optional() });
