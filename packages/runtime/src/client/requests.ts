import { ApiError } from "../errors.ts";
import { type Kind, nameOfKind } from "../object/kind.ts";
import type { KubeObject, ObjectRef } from "../object/kube-object.ts";
import type { ApiRequest } from "../transport/api-request.ts";
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  Patch,
  RawRequest,
  GetOptions,
  WriteOptions,
} from "./client.ts";

/** One request for each call of the client: what it sends, and whether it may be repeated. */
export const requests = {
  get: getRequest,
  create: createRequest,
  apply: applyRequest,
  patch: patchRequest,
  replace: replaceRequest,
  delete: deleteRequest,
  post: postRequest,
  raw: rawRequest,
};

/** GET of one object or of a subresource of it. */
function getRequest(kind: Kind, ref: ObjectRef, options: Sub<GetOptions>): ApiRequest {
  const { resourceVersion, subresource, isMetadataOnly = false, textLimitBytes } = options;
  const path = withQuery(objectPath(kind, ref, subresource), { resourceVersion });
  return {
    method: "GET",
    verb: "get",
    path,
    textLimitBytes,
    ...common(kind, ref, { ...options, isMetadataEnough: isMetadataOnly }),
  };
}

/** POST into the collection; the server checks that the object's namespace is the one of the path. */
function createRequest(kind: Kind, object: KubeObject, options: WriteOptions): ApiRequest {
  const path = withQuery(homePath(kind, object.metadata.namespace), writeQuery(options));
  return {
    method: "POST",
    verb: "create",
    path,
    body: object,
    ...common(kind, object.metadata, options),
  };
}

type Sub<T> = T & { readonly subresource?: string };

/** The part of an applied object that its request needs. */
interface AppliedObject {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined };
}

/** Server-side apply. */
function applyRequest(kind: Kind, object: AppliedObject, options: Sub<ApplyOptions>): ApiRequest {
  const { name, namespace } = object.metadata;
  const { onCreated } = options;
  const ref = namespace === undefined ? { name } : { name, namespace };
  const query = { ...writeQuery(options), ...(options.force ? { force: "true" } : {}) };
  return {
    method: "PATCH",
    verb: "apply",
    path: withQuery(objectPath(kind, ref, options.subresource), query),
    body: object,
    contentType: "application/apply-patch+yaml",
    ...(onCreated === undefined ? {} : { onStatus: (status) => (status === 201 ? onCreated() : undefined) }),
    ...common(kind, ref, options),
  };
}

/** Merge patch or JSON patch. */
function patchRequest(
  kind: Kind,
  ref: ObjectRef,
  options: Sub<WriteOptions & { readonly patch: Patch }>,
): ApiRequest {
  const { patch } = options;
  const isMerge = patch.kind === "merge";
  return {
    method: "PATCH",
    verb: "patch",
    path: withQuery(objectPath(kind, ref, options.subresource), writeQuery(options)),
    body: isMerge ? patch.body : patch.operations,
    contentType: isMerge ? "application/merge-patch+json" : "application/json-patch+json",
    ...common(kind, ref, options),
  };
}

/** PUT of a whole object. */
function replaceRequest(kind: Kind, object: KubeObject, options: Sub<WriteOptions>): ApiRequest {
  const path = withQuery(objectPath(kind, object.metadata, options.subresource), writeQuery(options));
  return {
    method: "PUT",
    verb: "update",
    path,
    body: object,
    ...common(kind, object.metadata, options),
  };
}

/** DELETE of exactly the object meant. */
function deleteRequest(kind: Kind, ref: ObjectRef, options: DeleteOptions): ApiRequest {
  const { dryRun = false, propagation, gracePeriodSeconds, preconditions } = options;
  const body = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    propagationPolicy: propagation,
    gracePeriodSeconds,
    preconditions,
    dryRun: dryRun ? ["All"] : undefined,
  };
  return {
    method: "DELETE",
    verb: "delete",
    path: objectPath(kind, ref),
    body,
    ...about(kind, ref),
    ...limitsOf(options),
  };
}

/** POST to a subresource. */
function postRequest(
  kind: Kind,
  ref: ObjectRef,
  options: WriteOptions & { readonly subresource: string; readonly body: unknown },
): ApiRequest {
  return {
    method: "POST",
    verb: "create",
    path: withQuery(objectPath(kind, ref, options.subresource), writeQuery(options)),
    body: options.body,
    ...about(kind, ref),
    ...limitsOf(options),
  };
}

/** Any request; its path stands for the kind in messages. */
function rawRequest({ method, path, body, contentType, ...options }: RawRequest): ApiRequest {
  const [kind = ""] = path.split("?", 1);
  return {
    method,
    verb: method.toLowerCase(),
    path,
    subject: { kind },
    body,
    contentType,
    ...limitsOf(options),
  };
}

/** Parameters of every request about an object. */
function common(
  kind: Kind,
  ref: Partial<ObjectRef>,
  options: WriteOptions,
): Pick<ApiRequest, "subject" | "accept" | "signal" | "timeoutMs"> {
  return { ...about(kind, ref), ...responseTo(options), ...limitsOf(options) };
}

function responseTo({ isMetadataEnough = false }: WriteOptions): Pick<ApiRequest, "accept"> {
  return isMetadataEnough ? { accept: `${metadataOnly("PartialObjectMetadata")},application/json` } : {};
}

/** Accept header for metadata only. A server that cannot cut objects refuses it. */
export function metadataOnly(as: "PartialObjectMetadata" | "PartialObjectMetadataList"): string {
  return `application/json;as=${as};g=meta.k8s.io;v=v1`;
}

function writeQuery({
  dryRun = false,
  fieldValidation = "Strict",
  fieldManager,
}: WriteOptions): Readonly<Record<string, string | undefined>> {
  return { fieldValidation, fieldManager, dryRun: dryRun ? "All" : undefined };
}

export function about(kind: Kind, ref: Partial<ObjectRef>): Pick<ApiRequest, "subject"> {
  return { subject: { kind: nameOfKind(kind), ref } };
}

/** When the request must end. */
export function limitsOf({ signal, timeoutMs }: CallOptions): Pick<ApiRequest, "signal" | "timeoutMs"> {
  return { signal, timeoutMs };
}

/** Path of one object or of a subresource of it. Throws `invalid` for a name that would lead elsewhere. */
export function objectPath(kind: Kind, { name, namespace }: ObjectRef, subresource?: string): string {
  const tail = subresource === undefined ? [] : subresource.split("/");
  return [homePath(kind, namespace), ...[name, ...tail].map((part) => segment(kind, part))].join("/");
}

/** Path of the collection that an object lives in: objects of a namespaced kind need a namespace. */
function homePath(kind: Kind, namespace: string | undefined): string {
  if (kind.scope === "Namespaced" && (namespace ?? "") === "") throw invalid(kind, "needs a namespace");
  return collectionPath(kind, namespace);
}

/** Path of all objects, of one namespace where one is given. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const root = kind.group === "" ? "/api" : `/apis/${segment(kind, kind.group)}`;
  const isWithin = kind.scope === "Namespaced" && namespace !== undefined && namespace !== "";
  const scope = isWithin ? `/namespaces/${segment(kind, namespace)}` : "";
  return `${root}/${segment(kind, kind.version)}${scope}/${segment(kind, kind.plural)}`;
}

/** Path with a query; parameters that are undefined are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  if (pairs.length === 0) return path;
  return `${path}?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value ?? "")}`).join("&")}`;
}

/** The server decodes before it splits, so an encoded slash would still name something else: refused as the server does. */
function segment(kind: Kind, part: string): string {
  if (part === "" || part === "." || part === ".." || /[/%]/.test(part) || !part.isWellFormed()) {
    throw invalid(kind, `cannot be named ${JSON.stringify(part.slice(0, 100))}`);
  }
  return encodeURIComponent(part);
}

function invalid(kind: Kind, problem: string): ApiError {
  return new ApiError(`${nameOfKind(kind)} ${problem}`, {
    class: "invalid",
    reason: "BadName",
    mayHaveActed: false,
  });
}
