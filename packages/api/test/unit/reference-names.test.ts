import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { anyObjectName, objectName, objectNameOrEmpty } from "../../src/object-name.ts";

const directory = join(import.meta.dirname, "../../../../config/crd");

interface Schema {
  readonly type?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** Fields that may refer to an object, by their own name or by that of the field around them. */
const isReference = /(?:^|\.)(?:names?|namespace|\w*(?:Name|Names|Secret|Class|Account))(?:\[\])?$/;

function unpatterned(schema: Schema, path: string): readonly string[] {
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
    unpatterned(each, `${path}.${name}`),
  );
  const items = schema.items === undefined ? [] : unpatterned(schema.items, `${path}[]`);
  const isOpen = schema.type === "string" && schema.pattern === undefined && schema.enum === undefined;
  return [...(isOpen && isReference.test(path) ? [path] : []), ...below, ...items];
}

/** Names that refer to no object. */
const notReferences = [
  // Of what the cluster makes itself; the API server judges them when it is made.
  ".spec.general.serviceName",
  ".spec.nodePools[].component",
  // Of parts of a pod, of the engine, or in a certificate.
  ".spec.dashboards.additionalVolumes[].name",
  ".spec.general.additionalVolumes[].name",
  ".spec.kibana.additionalVolumes[].name",
  ".spec.general.snapshotRepositories[].name",
  ".spec.general.monitoring.tlsConfig.serverName",
  ".spec.security.config.operatorClientServerName",
  // Without effect.
  ".spec.bootstrap.storageClass",
];

describe("[security/112] names in references follow the pattern of Kubernetes", () => {
  test.for(readdirSync(directory).filter((file) => file.endsWith(".yaml")))("in %s", (file) => {
    const { spec } = parse(readFileSync(join(directory, file), "utf8")) as Definition;
    const open = spec.versions.flatMap(({ schema }) => {
      const { spec: declared } = schema.openAPIV3Schema.properties ?? {};
      return declared === undefined ? [] : unpatterned(declared, ".spec");
    });
    expect(open.filter((path) => !notReferences.includes(path))).toEqual([]);
  });

  test.for<[string, string, boolean, boolean]>([
    ["a plain name", "logs-users", true, true],
    ["a subdomain", "logs.users", true, true],
    ["a name of RBAC", "system:node-proxier", false, true],
    ["a selector", "a=b,c!=d", false, false],
    ["a path", "a/b", false, false],
    ["an escaped path", "a%2fb", false, false],
    ["upper case", "Logs", false, true],
    ["empty", "", false, false],
  ])("%s", ([, name, isObjectName, isAnyName]) => {
    expect(objectName().safeParse(name).success).toBe(isObjectName);
    expect(anyObjectName().safeParse(name).success).toBe(isAnyName);
    expect(objectNameOrEmpty().safeParse(name).success).toBe(isObjectName || name === "");
  });
});
