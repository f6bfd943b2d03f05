import { elasticsearchCluster, openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import { isJsonObject, type Kind, type Live } from "@quartermaster/runtime";
import type { CustomResource } from "@quartermaster/runtime/schema";

import type { ClusterObject } from "../model/read-cluster.ts";

/** Kinds that declare a search cluster, those for new objects first. */
export const searchKinds: readonly CustomResource<ClusterObject>[] = [
  openSearchCluster,
  elasticsearchCluster,
  opsterOpenSearchCluster,
];

/** The kind of an object that came from a server. */
export function kindOf({
  apiVersion,
  kind,
}: Pick<ClusterObject, "apiVersion" | "kind">): Kind<ClusterObject> {
  const found = resourceOf(apiVersion, kind);
  if (found === undefined) throw new TypeError(`${apiVersion} ${kind} is no search cluster`);
  return found.kind;
}

/** A declaration from a file: as the API server would return it, or what is wrong with its shape. */
export type ReadDeclaration =
  | { readonly kind: "read"; readonly object: Live<ClusterObject> }
  | { readonly kind: "malformed"; readonly problems: readonly string[] }
  | { readonly kind: "other" };

/** Reads a document: nulls are dropped and defaults filled in, as the server does. Its CEL rules are not evaluated here. */
export function readDeclaration(document: unknown): ReadDeclaration {
  const value = withoutNulls(document);
  const resource = isJsonObject(value) ? resourceOf(value["apiVersion"], value["kind"]) : undefined;
  if (resource === undefined) return { kind: "other" };
  const issues = resource.check(value);
  if (issues.length > 0)
    return { kind: "malformed", problems: issues.map(({ path, message }) => `${path}: ${message}`) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind's own check has just passed
  const object = value as Live<ClusterObject>;
  const metadata = { ...object.metadata, namespace: object.metadata.namespace ?? "default" };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema has just filled it in
  const spec = resource.request.spec.parse(object.spec) as ClusterObject["spec"];
  return { kind: "read", object: { ...object, metadata, spec } as Live<ClusterObject> };
}

function resourceOf(apiVersion: unknown, kind: unknown): CustomResource<ClusterObject> | undefined {
  return searchKinds.find(
    ({ kind: known }) => apiVersion === `${known.group}/${known.version}` && kind === known.kind,
  );
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([name, field]) => [name, withoutNulls(field)]),
  );
}
