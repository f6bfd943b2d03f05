import { fieldOf, type KubeObject } from "@quartermaster/runtime";

import { isCrd } from "./provided-kinds.ts";

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
