import { ApiError } from "../errors.ts";
import { type Kind, nameOfKind } from "../object/kind.ts";
import type { ObjectRef } from "../object/kube-object.ts";

/** Path of one object or of a subresource of it. Throws `invalid` for a name that would lead elsewhere. */
export function objectPath(kind: Kind, { name, namespace }: ObjectRef, subresource?: string): string {
  const tail = subresource === undefined ? [] : subresource.split("/");
  return [homePath(kind, namespace), ...[name, ...tail].map((part) => segment(kind, part))].join("/");
}

/** Path of the collection that an object lives in: objects of a namespaced kind need a namespace. */
export function homePath(kind: Kind, namespace: string | undefined): string {
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
