import * as z from "zod";

import type { Kind } from "../object/kind.ts";
import { apiVersionOf, defineKind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { StructuralSchema } from "./structural-schema.ts";
import { toStructuralSchema } from "./structural-schema.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description?: string;
  /** Columns above 0 show with `-o wide` only. */
  readonly priority?: number;
}

/** A kind of ours, said once. */
export interface CustomResourceDefinitionRequest<Spec extends z.ZodObject, Status extends z.ZodObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: Kind["scope"];
  /** What the kind is for; shown by `kubectl explain` and in the reference. */
  readonly description: string;
  readonly spec: Spec;
  readonly status: Status;
  readonly columns: readonly PrinterColumn[];
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
  /** A complete object as a user would write it; documented, and applied by a test. */
  readonly example: ExampleOf<Spec>;
}

/** An example before it is given apiVersion and kind. */
export interface ExampleOf<Spec extends z.ZodObject> {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: z.input<Spec>;
}

/** Objects of a kind as the API server returns them: defaults are filled in. */
export type ObjectOf<Spec extends z.ZodObject, Status extends z.ZodObject> = KubeObject & {
  readonly spec: Readonly<z.output<Spec>>;
  readonly status?: Readonly<z.output<Status>>;
};

/** One fault of a manifest, found without a server. */
export interface ManifestIssue {
  /** e.g. `spec.stages.0.name`. */
  readonly path: string;
  readonly message: string;
}

/** Everything that follows from a kind's definition. */
export interface CustomResource<O extends KubeObject = KubeObject> {
  readonly kind: Kind<O>;
  readonly request: CustomResourceDefinitionRequest<z.ZodObject, z.ZodObject>;
  /** The complete example. */
  readonly example: Readonly<Record<string, unknown>>;
  /** The CustomResourceDefinition, ready to be applied. Throws SchemaError where the schema cannot be expressed. */
  definition(): Readonly<Record<string, unknown>>;
  /** All faults of a manifest that can be seen without a server; CEL rules are the server's. */
  check(manifest: unknown): readonly ManifestIssue[];
}

/** Defines a kind: its type, its CRD, its reference page and its offline check follow from here. */
export function defineCustomResource<Spec extends z.ZodObject, Status extends z.ZodObject>(
  request: CustomResourceDefinitionRequest<Spec, Status>,
): CustomResource<ObjectOf<Spec, Status>> {
  const { group, version, kind, plural, scope } = request;
  const apiVersion = apiVersionOf({ group, version });
  const manifest = z.object({
    apiVersion: z.literal(apiVersion),
    kind: z.literal(kind),
    metadata: z.looseObject({ name: z.string().min(1) }),
    spec: request.spec,
    status: z.unknown().optional(),
  });
  return {
    kind: defineKind<ObjectOf<Spec, Status>>({ group, version, kind, plural, scope }),
    request,
    example: { apiVersion, kind, ...request.example },
    definition: () => definitionOf(request),
    check: (candidate) => issuesOf(manifest.strict().safeParse(candidate)),
  };
}

function issuesOf(result: z.ZodSafeParseResult<unknown>): readonly ManifestIssue[] {
  return (result.error?.issues ?? []).map(({ path, message }) => ({
    path: path.map(String).join("."),
    message,
  }));
}

function definitionOf(
  request: CustomResourceDefinitionRequest<z.ZodObject, z.ZodObject>,
): Readonly<Record<string, unknown>> {
  const { group, kind, plural, scope, shortNames = [], categories = [] } = request;
  const names = {
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames,
    categories,
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, names, scope, versions: [versionOf(request)] },
  };
}

function versionOf(
  request: CustomResourceDefinitionRequest<z.ZodObject, z.ZodObject>,
): Readonly<Record<string, unknown>> {
  const { version, columns, scale } = request;
  return {
    name: version,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: rootSchema(request) },
    subresources: { status: {}, ...(scale === undefined ? {} : { scale }) },
    additionalPrinterColumns: columns.map(({ priority = 0, ...column }) => ({
      ...column,
      ...(priority === 0 ? {} : { priority }),
    })),
  };
}

function rootSchema({
  description,
  spec,
  status,
}: CustomResourceDefinitionRequest<z.ZodObject, z.ZodObject>): StructuralSchema {
  return {
    type: "object",
    description,
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: toStructuralSchema(spec, ["spec"]),
      status: toStructuralSchema(status, ["status"]),
    },
  };
}
