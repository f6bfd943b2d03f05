import type { Kind } from "../object/kind.ts";
import type { KubeObject, ObjectRef } from "../object/kube-object.ts";

/** The owner of the kind that controls the object; undefined when there is none. Versions of a group are the same kind. */
export function controllingOwner({ metadata }: KubeObject, kind: Kind): ObjectRef | undefined {
  const { ownerReferences = [], namespace } = metadata;
  const owner = ownerReferences.find(
    (reference) =>
      reference.controller === true &&
      reference.kind === kind.kind &&
      groupOf(reference.apiVersion) === kind.group,
  );
  if (owner === undefined) return undefined;
  const isNamespaced = kind.scope === "Namespaced" && namespace !== undefined;
  return isNamespaced ? { name: owner.name, namespace } : { name: owner.name };
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash === -1 ? "" : apiVersion.slice(0, slash);
}
