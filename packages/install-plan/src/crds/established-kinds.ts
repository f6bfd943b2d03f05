import { defineKind, fieldOf, type Kind, type KubeObject, listOf, textOf } from "@quartermaster/runtime";

/** A kind as its definition declares it. */
export interface EstablishedKind {
  readonly kind: Kind;
  readonly hasStatus: boolean;
}

/**
 * The kinds that a definition serves for sure. One that was never changed serves all it says from the moment that it is
 * established, seconds before discovery lists it when many come together. Of one that was changed only discovery knows when.
 */
export function establishedKinds(crd: KubeObject): readonly EstablishedKind[] {
  if (crd.metadata.generation !== 1 || !isEstablished(crd)) return [];
  return listOf(fieldOf(crd, "spec"), "versions")
    .filter((version) => fieldOf(version, "served") === true)
    .flatMap((version) => {
      const kind = definedKind(crd, textOf(version, "name") ?? "");
      const hasStatus = fieldOf(fieldOf(version, "subresources"), "status") !== undefined;
      return kind === undefined ? [] : [{ kind, hasStatus }];
    });
}

/** Whether the server has taken the CRD up: established, and its names are no other client's. */
export function isEstablished(crd: unknown): boolean {
  return holds(crd, "Established") && holds(crd, "NamesAccepted");
}

/** The versions that the CRD serves, in its own order. They are in discovery only once it is established. */
export function servedVersions(crd: unknown): readonly string[] {
  return listOf(fieldOf(crd, "spec"), "versions").flatMap((version) => {
    const name = textOf(version, "name");
    return name !== undefined && fieldOf(version, "served") === true ? [name] : [];
  });
}

/** Whether a live CRD serves the version. An old CRD is established before a new version of it is; check discovery too. */
export function isServed(crd: unknown, version: string): boolean {
  return isEstablished(crd) && servedVersions(crd).includes(version);
}

function holds(crd: unknown, type: string): boolean {
  return listOf(fieldOf(crd, "status"), "conditions").some(
    (condition) => textOf(condition, "type") === type && textOf(condition, "status") === "True",
  );
}

/** The kind that a CRD defines, in one of its versions; undefined when the CRD does not say enough. */
export function definedKind(crd: unknown, version: string): Kind | undefined {
  const spec = fieldOf(crd, "spec");
  const names = fieldOf(spec, "names");
  const [group, kind, plural] = [textOf(spec, "group"), textOf(names, "kind"), textOf(names, "plural")];
  if (group === undefined || kind === undefined || plural === undefined) return undefined;
  const scope = fieldOf(spec, "scope") === "Cluster" ? "Cluster" : "Namespaced";
  return defineKind({ group, version, kind, plural, scope });
}
