import * as z from "zod";

import type { Kind } from "../object/kind.ts";
import { apiVersionOf, defineKind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { type KindVersion, versionsOf } from "./kind-version.ts";
import { resourceDefinition, type ResourceConversion } from "./resource-definition.ts";

/** A kind of ours, declared once. Its version is the one that our code works with; `otherVersions` are served beside it. */
export interface CustomResourceDefinitionRequest<
  Spec extends z.ZodObject,
  Status extends z.ZodObject,
> extends KindVersion<Spec, Status> {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: Kind["scope"];
  /** Purpose of the kind; shown by `kubectl explain` and in the reference. */
  readonly description: string;
  /** Exactly one of all versions is stored (default: this one, unless another says `storage: true`). */
  readonly otherVersions?: readonly KindVersion<z.ZodObject, z.ZodObject>[];
  /** How objects get from one version to another (default: only their apiVersion changes). */
  readonly conversion?: ResourceConversion;
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
  /** All faults of a manifest of any served version that can be seen without a server; CEL rules are the server's. */
  check(manifest: unknown): readonly ManifestIssue[];
}

/**
 * Defines a kind: its type, its CRD, its reference page and its offline check follow from here.
 *
 * @example
 * const bundles = defineCustomResource({
 *   group: "example.org", version: "v1", kind: "Bundle", plural: "bundles", scope: "Namespaced",
 *   description: "…", spec, status, columns: [],
 *   rules: [{ rule: "self.metadata.name == 'cluster'", message: "the only name is cluster" }],
 *   otherVersions: [{ version: "v1alpha1", spec: olderSpec, status, columns: [], deprecated: true }],
 *   example: { metadata: { name: "cluster" }, spec: {} },
 * });
 */
export function defineCustomResource<Spec extends z.ZodObject, Status extends z.ZodObject>(
  request: CustomResourceDefinitionRequest<Spec, Status>,
): CustomResource<ObjectOf<Spec, Status>> {
  const { group, version, kind, plural, scope } = request;
  const schemas = new Map(
    versionsOf(request)
      .filter(({ served = true }) => served)
      .map((each) => [apiVersionOf({ group, version: each.version }), manifestSchema(request, each)]),
  );
  const apiVersion = apiVersionOf({ group, version });
  const own = manifestSchema(request, request);
  return {
    kind: defineKind<ObjectOf<Spec, Status>>({ group, version, kind, plural, scope }),
    request,
    example: { apiVersion, kind, ...request.example },
    definition: () => resourceDefinition(request),
    check: (candidate) => issuesOf((schemas.get(apiVersionIn(candidate)) ?? own).safeParse(candidate)),
  };
}

function manifestSchema(
  { group, kind }: Pick<CustomResourceDefinitionRequest<z.ZodObject, z.ZodObject>, "group" | "kind">,
  { version, spec }: KindVersion<z.ZodObject, z.ZodObject>,
): z.ZodType {
  return z.strictObject({
    apiVersion: z.literal(apiVersionOf({ group, version })),
    kind: z.literal(kind),
    metadata: z.looseObject({ name: z.string().min(1) }),
    spec,
    status: z.unknown().optional(),
  });
}

function apiVersionIn(manifest: unknown): string {
  const known = z.looseObject({ apiVersion: z.string() }).safeParse(manifest);
  return known.data?.apiVersion ?? "";
}

function issuesOf(result: z.ZodSafeParseResult<unknown>): readonly ManifestIssue[] {
  return (result.error?.issues ?? []).map(({ path, message }) => ({
    path: path.map(String).join("."),
    message,
  }));
}
