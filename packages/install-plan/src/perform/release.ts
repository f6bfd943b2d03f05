import { isApplyOf, type KubeObject, readManagerEntry } from "@quartermaster/runtime";

import { fieldManager, objectAnnotation, ownLabels } from "../owner-labels.ts";

/**
 * A merge patch that gives an object up: our owner labels go, and our claim on its fields, while the fields stay. An apply of
 * nothing would do the contrary: it removes what only we own.
 */
export function releasePatch({ metadata }: KubeObject): object {
  const { uid, resourceVersion, managedFields = [] } = metadata;
  const others = managedFields.filter(
    (entry) => !readManagerEntry(entry).some((each) => isApplyOf(each, fieldManager)),
  );
  return {
    metadata: {
      uid,
      resourceVersion,
      labels: Object.fromEntries(ownLabels.map((label) => [label, null])),
      annotations: { [objectAnnotation]: null },
      // An empty list would leave it as it is; one empty entry clears it.
      managedFields: others.length === 0 ? [{}] : others,
    },
  };
}
