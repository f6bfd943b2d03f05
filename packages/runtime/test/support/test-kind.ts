import { randomBytes } from "node:crypto";

import { defineKind, type Kind } from "../../src/object/kind.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import type { Connected } from "./connect.ts";
import { customResourceDefinitions, type Thing } from "./kinds.ts";

/** A CRD whose spec and status keep whatever is written, with a status subresource. */
export interface TestKind {
  readonly kind: Kind<Thing>;
  readonly apiVersion: string;
}

/** Makes a kind that no other test has and waits until it is served. `spec` is the schema of that field. */
export async function makeTestKind({ client }: Connected, spec: object = keepAll): Promise<TestKind> {
  const group = `t${randomBytes(3).toString("hex")}.example.org`;
  const object = crdOf(group, spec);
  await client.create(customResourceDefinitions, object);
  const kind = defineKind<Thing>({
    group,
    version: "v1",
    kind: "Thing",
    plural: "things",
    scope: "Namespaced",
  });
  const deadlineMs = performance.now() + 30_000;
  while (!(await isServed(client, kind))) {
    if (performance.now() > deadlineMs) throw new Error(`${group} is not served after 30 s`);
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  return { kind, apiVersion: `${group}/v1` };
}

const keepAll = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

async function isServed(client: Connected["client"], kind: Kind<Thing>): Promise<boolean> {
  try {
    await client.listPage(kind, { namespace: "default" });
    return true;
  } catch {
    return false;
  }
}

function crdOf(group: string, spec: object): KubeObject {
  const schema = {
    openAPIV3Schema: { type: "object", properties: { spec, status: keepAll } },
  };
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind: "Thing", plural: "things" },
      versions: [{ name: "v1", served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
  return crd;
}
