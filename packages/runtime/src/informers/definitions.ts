import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject, Live } from "../object/kube-object.ts";
import { type InformerEvent, objectOf } from "./informer-event.ts";

/** The part of a CustomResourceDefinition that is kept: which resource it is about, and whether it is served. */
export interface Definition extends KubeObject {
  readonly spec: { readonly group: string; readonly names: { readonly plural: string } };
}

/** CustomResourceDefinitions. */
export const definitions: Kind<Definition> = defineKind<Definition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

/** Whole schemas would fill the memory; only names are kept. Every change passes, Established included. */
export const definitionNames = {
  name: "names",
  project: ({ apiVersion, kind, metadata, ...rest }: Live): Definition => {
    const { name, uid, resourceVersion } = metadata;
    const spec = "spec" in rest ? namesOf(rest.spec) : { group: "", names: { plural: "" } };
    return {
      apiVersion,
      kind,
      metadata: { name, uid, resourceVersion },
      spec,
    };
  },
};

/** Whether the event says something about the kind's being served. */
export function concerns(event: InformerEvent<Definition>, kind: Kind): boolean {
  return isDefinitionOf(objectOf(event), kind);
}

/** Whether a definition is that of the kind, in whatever version. */
export function isDefinitionOf({ spec }: Definition, { group, plural }: Kind): boolean {
  return spec.group === group && spec.names.plural === plural;
}

function namesOf(spec: unknown): Definition["spec"] {
  const group = textField(spec, "group");
  const names: unknown =
    typeof spec === "object" && spec !== null && "names" in spec ? spec.names : undefined;
  return { group, names: { plural: textField(names, "plural") } };
}

function textField(value: unknown, field: string): string {
  if (typeof value !== "object" || value === null) return "";
  const text: unknown = Reflect.get(value, field);
  return typeof text === "string" ? text : "";
}
