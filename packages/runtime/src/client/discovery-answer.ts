import * as z from "zod";

import type { ServedKind } from "./discovery.ts";

/** One version of a group and what it offers. */
export interface ServedGroupVersion {
  readonly group: string;
  readonly version: string;
  /** The server could not ask the API behind it: what stands here may be old or missing. */
  readonly isStale: boolean;
  readonly kinds: readonly ServedKind[];
}

const resourceSchema = z.object({
  resource: z.string(),
  responseKind: z.object({ kind: z.string() }).nullish(),
  scope: z.enum(["Namespaced", "Cluster"]).optional(),
  singularResource: z.string().default(""),
  shortNames: z.array(z.string()).default([]),
  verbs: z.array(z.string()).default([]),
  subresources: z.array(z.object({ subresource: z.string() })).default([]),
});

const answerSchema = z.object({
  kind: z.literal("APIGroupDiscoveryList"),
  items: z
    .array(
      z.object({
        metadata: z.object({ name: z.string().default("") }).default({ name: "" }),
        versions: z
          .array(
            z.object({
              version: z.string(),
              freshness: z.string().optional(),
              resources: z.array(resourceSchema).default([]),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
});

/** Reads an answer of aggregated discovery. Throws when it is something else: Kubernetes before 1.27. */
export function readGroups(answer: unknown): readonly ServedGroupVersion[] {
  return answerSchema.parse(answer).items.flatMap(({ metadata: { name: group }, versions }) =>
    versions.map(({ version, freshness, resources }) => ({
      group,
      version,
      isStale: freshness === "Stale",
      kinds: resources.flatMap((resource) => servedKind(group, version, resource)),
    })),
  );
}

function servedKind(
  group: string,
  version: string,
  resource: z.output<typeof resourceSchema>,
): readonly ServedKind[] {
  const { responseKind, scope, singularResource: singular, shortNames, verbs, subresources } = resource;
  if (responseKind === undefined || responseKind === null || scope === undefined) return [];
  return [
    {
      group,
      version,
      kind: responseKind.kind,
      plural: resource.resource,
      scope,
      singular,
      shortNames,
      verbs,
      subresources: subresources.map(({ subresource }) => subresource),
    },
  ];
}
