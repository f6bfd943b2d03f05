import { defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";

/** One version of a definition; fields of `spec` by their schema. */
export interface DefinedVersion {
  readonly name: string;
  readonly isStored?: boolean;
  readonly isServed?: boolean;
  readonly fields?: Readonly<Record<string, object>>;
}

/** The definition of a kind `Widget`, in a group that no other test has. */
export interface WidgetDefinition {
  readonly group: string;
  readonly name: string;
  readonly object: KubeObject;
  readonly kind: Kind;
}

/** A definition of Widgets with the versions told, the first of them stored unless another says so. */
export function widgets(
  group: string,
  versions: readonly DefinedVersion[] = [{ name: "v1" }],
  scope: Kind["scope"] = "Namespaced",
): WidgetDefinition {
  const stored = versions.find(({ isStored }) => isStored === true) ?? versions[0];
  const name = `widgets.${group}`;
  const spec = {
    group,
    scope,
    names: { kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList" },
    versions: versions.map((version) => ({
      name: version.name,
      served: version.isServed ?? true,
      storage: version === stored,
      schema: { openAPIV3Schema: schemaOf(version) },
    })),
  };
  const metadata = { name };
  const object = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata, spec };
  const version = versions.at(-1)?.name ?? "v1";
  return {
    group,
    name,
    object,
    kind: defineKind({ group, version, kind: "Widget", plural: "widgets", scope }),
  };
}

function schemaOf({ fields }: DefinedVersion): object {
  const spec =
    fields === undefined
      ? { type: "object", "x-kubernetes-preserve-unknown-fields": true }
      : { type: "object", properties: fields };
  return { type: "object", properties: { spec } };
}

/** A Widget. */
export function widget(
  { group }: Pick<WidgetDefinition, "group">,
  name: string,
  { version = "v1", spec = {} }: { readonly version?: string; readonly spec?: object } = {},
): KubeObject & { readonly spec: object } {
  return { apiVersion: `${group}/${version}`, kind: "Widget", metadata: { name }, spec };
}
