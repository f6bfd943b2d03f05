import type { ApiClient } from "@quartermaster/local-cluster";

import { eventually } from "../eventually.ts";
import type { InterleavedRequest } from "../fault-proxy/fault.ts";

/** An object as JSON. */
export type RawObject = Readonly<Record<string, unknown>> & { readonly metadata: RawMetadata };

/** Metadata that walks read. */
export interface RawMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly generation?: number;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly unknown[];
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
}

/** Annotation of the other client, on objects that it edited or created. */
export const otherClientAnnotation = "tests.quartermaster.dev/other-client";

/** Finalizer of the other client, for as long as one write takes. */
export const otherClientFinalizer = "tests.quartermaster.dev/other-client";

/** Path of the object that a write is about, without subresource and query. */
export function targetPath({ path, verb, name, subresource }: InterleavedRequest): string {
  const bare = path.split("?")[0] ?? path;
  if (verb === "create") return `${bare}/${name ?? ""}`;
  return subresource === undefined ? bare : bare.slice(0, bare.lastIndexOf("/"));
}

/** Reads an object; undefined when there is none. */
export async function readObject(api: ApiClient, path: string): Promise<RawObject | undefined> {
  const { status, body } = await api.send({ path });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- objects of the API server
  return status === 200 ? (JSON.parse(body) as RawObject) : undefined;
}

/** Merges a patch into an object; false when the server refuses it. */
export async function mergeInto(api: ApiClient, path: string, body: object): Promise<boolean> {
  const contentType = "application/merge-patch+json";
  const { status } = await api.send({ method: "PATCH", path, body, contentType });
  return status < 300;
}

/** Deletes an object without waiting for finalizers; false when it is still there afterwards. */
export async function removeObject(api: ApiClient, path: string): Promise<boolean> {
  await mergeInto(api, path, { metadata: { finalizers: null } });
  const options = { propagationPolicy: "Background", gracePeriodSeconds: 0 };
  await api.send({ method: "DELETE", path, body: { apiVersion: "v1", kind: "DeleteOptions", ...options } });
  try {
    return await eventually(async () => (await readObject(api, path)) === undefined, { withinMs: 5_000 });
  } catch {
    return false;
  }
}

/** Creates an object of the other client under a name: same content, none of our labels and owners. Undefined when the server refuses it. */
export async function createForeign(
  api: ApiClient,
  path: string,
  like: Readonly<Record<string, unknown>>,
): Promise<RawObject | undefined> {
  const name = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
  const { status: _status, metadata: _metadata, ...content } = like;
  const { status, body } = await api.send({
    method: "POST",
    path: path.slice(0, path.lastIndexOf("/")),
    body: { ...contentOf(content), metadata: { name, annotations: { [otherClientAnnotation]: "created" } } },
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- objects of the API server
  return status < 300 ? (JSON.parse(body) as RawObject) : undefined;
}

/** Fields that a server sets and does not take from a client again. */
function contentOf(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { spec, ...rest } = object;
  if (typeof spec !== "object" || spec === null) return object;
  const given = Object.fromEntries(
    Object.entries(spec).filter(
      ([field]) => !["clusterIP", "clusterIPs", "volumeName", "nodeName"].includes(field),
    ),
  );
  const isJob = rest["kind"] === "Job";
  return { ...rest, spec: isJob ? jobSpec(given) : given };
}

function jobSpec({ selector: _selector, ...spec }: Readonly<Record<string, unknown>>): unknown {
  const template = JSON.parse(JSON.stringify(spec["template"] ?? {}), (key, value: unknown) =>
    key.endsWith("controller-uid") || key.endsWith("job-name") ? undefined : value,
  ) as unknown;
  return { ...spec, template };
}

/** Content of an object that no one but its writer may change: everything but what the server and finalizers of controllers add. */
export function contentDigest(object: RawObject): string {
  const { status: _status, metadata, ...content } = object;
  const { labels, annotations, ownerReferences } = metadata;
  // The scheduler names the node of a pod.
  return JSON.stringify([contentOf(content), labels, annotations, ownerReferences]);
}
