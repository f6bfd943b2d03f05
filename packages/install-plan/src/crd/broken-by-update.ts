import { fieldOf, type KubeObject, listOf, textOf } from "@quartermaster/runtime";

import { identityOf, type Identity } from "../identity.ts";
import { schemaFaults, type SchemaFault } from "./schema-check.ts";

/** An object that the new schema of its CRD would no longer take. */
export interface BrokenObject {
  readonly object: Identity;
  readonly faults: readonly SchemaFault[];
}

/** Faults reported per object; the first say enough. */
const faultLimit = 5;

/**
 * The objects that a new CRD would make invalid in one version, as far as its schema shows (see `schemaFaults`). Objects must
 * be in that version; what no version's schema covers is nobody's fault, so an unknown version breaks nothing.
 */
export function brokenByUpdate(
  nextCrd: unknown,
  version: string,
  objects: Iterable<KubeObject>,
): readonly BrokenObject[] {
  const schema = schemaOf(nextCrd, version);
  if (schema === undefined) return [];
  return [...objects]
    .map((object) => ({
      object: identityOf(object),
      faults: schemaFaults(schema, object).slice(0, faultLimit),
    }))
    .filter(({ faults }) => faults.length > 0);
}

function schemaOf(crd: unknown, version: string): unknown {
  const found = listOf(fieldOf(crd, "spec"), "versions").find((entry) => textOf(entry, "name") === version);
  return fieldOf(fieldOf(found, "schema"), "openAPIV3Schema");
}
