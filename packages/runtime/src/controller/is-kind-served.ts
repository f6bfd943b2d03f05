import { definitions } from "../informers/definitions.ts";
import { fieldOf, listOf, textOf } from "../object/json-object.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject, Live } from "../object/kube-object.ts";
import type { Context } from "../reconcile/recipe.ts";

/**
 * Whether the API server serves a custom kind. Its definition is followed by name: installing it brings the object of the
 * reconcile back, and nothing is polled.
 */
export function isKindServed({ group, plural, version }: Kind, ctx: Pick<Context, "follow">): boolean {
  const kind: Kind = definitions;
  const definition = ctx.follow(kind, { name: `${plural}.${group}` }, { projection: servedVersions });
  return definition !== undefined && listOf(definition, "served").includes(version);
}

/** Of a definition only the versions that it serves are kept; schemas are large. */
const servedVersions = {
  name: "servedVersions",
  project: (definition: Live): KubeObject => {
    const { apiVersion, kind, metadata } = definition;
    const { name, uid, resourceVersion } = metadata;
    const conditions = listOf(fieldOf(definition, "status"), "conditions");
    const isEstablished = conditions.some(
      (each) => textOf(each, "type") === "Established" && textOf(each, "status") === "True",
    );
    const versions = listOf(fieldOf(definition, "spec"), "versions");
    const served = versions
      .filter((each) => fieldOf(each, "served") === true)
      .map((each) => textOf(each, "name"));
    const kept = {
      apiVersion,
      kind,
      metadata: { name, uid, resourceVersion },
      served: isEstablished ? served : [],
    };
    return kept;
  },
} as const;
