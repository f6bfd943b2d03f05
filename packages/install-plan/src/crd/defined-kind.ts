import { defineKind, fieldOf, type Kind, textOf } from "@quartermaster/runtime";

/** The kind that a CRD defines, in one of its versions; undefined when the CRD does not say enough. */
export function definedKind(crd: unknown, version: string): Kind | undefined {
  const spec = fieldOf(crd, "spec");
  const names = fieldOf(spec, "names");
  const [group, kind, plural] = [textOf(spec, "group"), textOf(names, "kind"), textOf(names, "plural")];
  if (group === undefined || kind === undefined || plural === undefined) return undefined;
  const scope = fieldOf(spec, "scope") === "Cluster" ? "Cluster" : "Namespaced";
  return defineKind({ group, version, kind, plural, scope });
}
