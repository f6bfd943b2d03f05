import { randomBytes } from "node:crypto";

import { eventually } from "@quartermaster/testkit";

import type { Client } from "../../src/client/client.ts";
import { defineKind, type Kind } from "../../src/object/kind.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import type { Condition } from "../../src/reconcile/condition.ts";
import { customResourceDefinitions } from "./kinds.ts";

/** The kind that controllers of these tests manage. */
export interface Widget extends KubeObject {
  readonly spec: WidgetSpec;
  readonly status?: WidgetStatus;
}

export interface WidgetSpec {
  readonly text?: string;
  readonly [field: string]: unknown;
}

export interface WidgetStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly [field: string]: unknown;
}

/** A kind that no other test has; not served yet. */
export function widgetKind(): Kind<Widget> {
  const group = `w${randomBytes(4).toString("hex")}.example.org`;
  return defineKind<Widget>({ group, version: "v1", kind: "Widget", plural: "widgets", scope: "Namespaced" });
}

/** Creates the definition of the kind and waits until its objects can be listed. */
export async function serveWidgets(client: Client, kind: Kind<Widget>): Promise<void> {
  await client.create(customResourceDefinitions, definitionOf(kind));
  await eventually(async () => {
    await client.listPage(kind, { pageSize: 1 });
    return true;
  });
}

/** The CustomResourceDefinition: any spec, any status, conditions as a map by type. */
function definitionOf({ group, plural, kind }: Kind<Widget>): KubeObject {
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const condition = {
    type: "object",
    required: ["type", "status"],
    properties: {
      type: { type: "string" },
      status: { type: "string" },
      reason: { type: "string" },
      message: { type: "string" },
      lastTransitionTime: { type: "string", format: "date-time" },
      observedGeneration: { type: "integer" },
    },
  };
  const conditions = {
    type: "array",
    items: condition,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  };
  const status = { ...open, properties: { conditions, observedGeneration: { type: "integer" } } };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: open, status } } };
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural },
      versions: [{ name: "v1", served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
  return crd;
}

/** A widget of the kind. */
export function aWidget(kind: Kind<Widget>, metadata: KubeObject["metadata"], spec: WidgetSpec = {}): Widget {
  return { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata, spec };
}

/** The condition of a type; undefined when it has none. */
export function conditionOf(widget: Widget | undefined, type: string): Condition | undefined {
  return widget?.status?.conditions?.find((condition) => condition.type === type);
}
