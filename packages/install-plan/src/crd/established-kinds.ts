import { fieldOf, type Kind, type KubeObject, listOf, textOf } from "@quartermaster/runtime";

import { definedKind } from "./defined-kind.ts";
import { isEstablished } from "./served-versions.ts";

/** A kind as its definition declares it. */
export interface EstablishedKind {
  readonly kind: Kind;
  readonly hasStatus: boolean;
}

/**
 * The kinds that a definition serves for sure. One that was never changed serves all it says from the moment that it is
 * established, seconds before discovery lists it when many come at once. Of one that was changed only discovery knows when.
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
