import type { Kind } from "../object/kind.ts";
import { type VersionedRequest, versionEntry, versionsOf } from "./kind-version.ts";

/** How objects get from one version to another. */
export type ResourceConversion =
  /** Only the apiVersion changes; the versions' schemas must agree. */
  | { readonly strategy: "None" }
  /** A route of kind `conversion` does it. */
  | { readonly strategy: "Webhook"; readonly client: ConversionClient };

/** Where the API server finds the webhook. The CA bundle is injected later: see `BundleTarget`. */
export type ConversionClient =
  | { readonly url: string }
  | {
      readonly service: {
        readonly namespace: string;
        readonly name: string;
        readonly path: string;
        /** Default: 443. */
        readonly port?: number;
      };
    };

export interface DefinitionRequest extends VersionedRequest {
  readonly group: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: Kind["scope"];
  readonly conversion?: ResourceConversion;
}

/** The CustomResourceDefinition of a kind. Throws SchemaError where the schema cannot be expressed. */
export function resourceDefinition(request: DefinitionRequest): Readonly<Record<string, unknown>> {
  const { group, kind, plural, scope, shortNames = [], categories = [], description, conversion } = request;
  const names = {
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    // The server drops empty lists, and `kubectl apply` would put them in again each time.
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  const versions = versionsOf(request).map((version) => versionEntry(description, version));
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names,
      scope,
      versions,
      ...(conversion === undefined ? {} : { conversion: conversionEntry(conversion) }),
    },
  };
}

function conversionEntry(conversion: ResourceConversion): Readonly<Record<string, unknown>> {
  if (conversion.strategy === "None") return { strategy: "None" };
  const { strategy, client } = conversion;
  return { strategy, webhook: { conversionReviewVersions: ["v1"], clientConfig: client } };
}
