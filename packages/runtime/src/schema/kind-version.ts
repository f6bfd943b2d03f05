import type * as z from "zod";

import { SchemaError } from "../errors.ts";
import { definedFields } from "../object/defined-fields.ts";
import { type StructuralSchema, toStructuralSchema } from "./structural-schema.ts";
import { type CelRule, VALIDATIONS } from "./vocabulary.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description?: string;
  /** Columns above 0 show with `-o wide` only. */
  readonly priority?: number;
}

/** One version of a kind of ours. */
export interface KindVersion<Spec extends z.ZodObject, Status extends z.ZodObject> {
  /** e.g. `v1alpha1`. */
  readonly version: string;
  readonly spec: Spec;
  readonly status: Status;
  readonly columns: readonly PrinterColumn[];
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
  /** CEL rules of the whole object; of its metadata they see only `self.metadata.name` and `self.metadata.generateName`. */
  readonly rules?: readonly CelRule[];
  /** Whether the API server serves this version (default: true). */
  readonly served?: boolean;
  /** Whether objects are kept in this version. */
  readonly storage?: boolean;
  /** Clients that use this version get a warning. */
  readonly deprecated?: boolean;
  /** The text of that warning (default: the API server's own). */
  readonly deprecationWarning?: string;
}

export interface VersionedRequest extends KindVersion<z.ZodObject, z.ZodObject> {
  readonly kind: string;
  readonly description: string;
  readonly otherVersions?: readonly KindVersion<z.ZodObject, z.ZodObject>[];
}

/** All versions of a kind, each knowing whether it is stored. Throws SchemaError unless exactly one is, and on a name used twice. */
export function versionsOf(request: VersionedRequest): readonly KindVersion<z.ZodObject, z.ZodObject>[] {
  const { otherVersions = [], kind, storage } = request;
  const isStoredElsewhere = otherVersions.some((other) => other.storage === true);
  const versions = [{ ...request, storage: storage ?? !isStoredElsewhere }, ...otherVersions];
  const stored = versions.filter((version) => version.storage === true);
  if (stored.length !== 1) {
    const names = stored.map(({ version }) => version).join(", ") || "none";
    throw new SchemaError(kind, `exactly one version of ${kind} is stored, but these are: ${names}`);
  }
  const names = versions.map(({ version }) => version);
  const double = names.find((name, at) => names.indexOf(name) !== at);
  if (double !== undefined) throw new SchemaError(kind, `version ${double} of ${kind} is there twice`);
  return versions;
}

/** A version as a CustomResourceDefinition has it. */
export function versionEntry(
  description: string,
  request: KindVersion<z.ZodObject, z.ZodObject>,
): Readonly<Record<string, unknown>> {
  const { version, columns, scale, served = true, storage = false } = request;
  const { deprecated = false, deprecationWarning } = request;
  return {
    name: version,
    served,
    storage,
    ...(deprecated ? { deprecated } : {}),
    ...(deprecated && deprecationWarning !== undefined ? { deprecationWarning } : {}),
    schema: { openAPIV3Schema: rootSchema(description, request) },
    subresources: definedFields({ status: {}, scale }),
    additionalPrinterColumns: columns.map(({ priority = 0, ...column }) => ({
      ...column,
      ...(priority === 0 ? {} : { priority }),
    })),
  };
}

function rootSchema(
  description: string,
  { version, spec, status, rules = [] }: KindVersion<z.ZodObject, z.ZodObject>,
): StructuralSchema {
  refuseMultiline(version, rules);
  return {
    type: "object",
    description,
    required: ["spec"],
    properties: {
      apiVersion: { type: "string", description: "Group and version of the API." },
      kind: { type: "string", description: "Kind of the object." },
      // Without a description: the server allows none, and gives its own.
      metadata: { type: "object", ...(rules.length === 0 ? {} : { properties: { name: objectName } }) },
      spec: {
        description: "Desired state, as its author declares it.",
        ...toStructuralSchema(spec, ["spec"]),
      },
      status: {
        description: "Observed state, as the operator reports it.",
        ...toStructuralSchema(status, ["status"]),
      },
    },
    ...(rules.length === 0 ? {} : { [VALIDATIONS]: rules }),
  };
}

/** Declared although every name has this limit: a `fieldPath` must be in the schema, and the cost of a rule follows from it. */
const objectName = { type: "string", description: "Name of the object.", maxLength: 253 } as const;

/** The API server demands a message for a rule of several lines, and takes only a single line for it. */
function refuseMultiline(version: string, rules: readonly CelRule[]): void {
  const wrong = rules.find(({ message }) => message.trim() === "" || message.includes("\n"));
  if (wrong !== undefined) throw new SchemaError(version, `the message of "${wrong.rule}" is not one line`);
}
