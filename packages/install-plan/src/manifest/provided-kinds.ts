import { fieldOf, groupOf, type KubeObject, listOf, textOf } from "@quartermaster/runtime";

import type { IdentityKey } from "../model/identity.ts";
import type { Member } from "../model/member.ts";

/** Where a kind is served. */
export interface ServedKind {
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
}

/** A kind that a CRD of the plan provides. */
export interface ProvidedKind extends ServedKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** The CRD, as a member of the plan. */
  readonly crd: IdentityKey;
  readonly stageIndex: number;
}

/** The kinds of a plan's CRDs, by `kindKey`. */
export type ProvidedKinds = ReadonlyMap<string, ProvidedKind>;

/** The key of a kind in `ProvidedKinds`: resolved by exact group, version and kind, never by a short name or plural. */
export function kindKey(apiVersion: string, kind: string): string {
  return `${apiVersion}/${kind}`;
}

/** The kinds that the CRDs among the members provide: every version that is served. */
export function providedKinds(
  members: readonly Pick<Member, "key" | "manifest" | "stageIndex">[],
): ProvidedKinds {
  const kinds = members.filter(({ manifest }) => isCrd(manifest)).flatMap((member) => kindsOf(member));
  return new Map(kinds.map((kind) => [kindKey(kind.apiVersion, kind.kind), kind]));
}

/** Whether the object is a CustomResourceDefinition. */
export function isCrd({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return kind === "CustomResourceDefinition" && groupOf(apiVersion) === "apiextensions.k8s.io";
}

function kindsOf({
  key,
  manifest,
  stageIndex,
}: Pick<Member, "key" | "manifest" | "stageIndex">): readonly ProvidedKind[] {
  const spec = fieldOf(manifest, "spec");
  const names = fieldOf(spec, "names");
  const [group, kind, plural] = [textOf(spec, "group"), textOf(names, "kind"), textOf(names, "plural")];
  if (group === undefined || kind === undefined || plural === undefined) return [];
  const scope = textOf(spec, "scope") === "Cluster" ? "Cluster" : "Namespaced";
  return listOf(spec, "versions")
    .filter((version) => fieldOf(version, "served") === true)
    .map((version) => `${group}/${textOf(version, "name") ?? ""}`)
    .map((apiVersion) => ({ apiVersion, kind, plural, scope, crd: key, stageIndex }));
}

/**
 * Whether the server would take the object by server-side apply exactly if it took it by a create. Only an apply minds
 * entries of a list that have the same key, and only the schema knows the keys: so there must be no list of two entries.
 * Definitions are the exception worth making, for they are large: their one list with keys is known.
 */
export function isCreatedAsApplied(manifest: KubeObject): boolean {
  return isCrd(manifest) ? haveRulesOnce(manifest) : haveNoPairs(manifest);
}

function haveNoPairs(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value) && value.length > 1) return false;
  return Object.values(value).every(haveNoPairs);
}

function haveRulesOnce(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(
    ([key, child]) => (key !== "x-kubernetes-validations" || areDistinct(child)) && haveRulesOnce(child),
  );
}

function areDistinct(rules: unknown): boolean {
  if (!Array.isArray(rules)) return true;
  const texts = rules.map((rule: unknown) => fieldOf(rule, "rule"));
  return new Set(texts).size === texts.length;
}
