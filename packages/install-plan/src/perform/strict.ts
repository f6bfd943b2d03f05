import type { Client, Kind, KubeObject } from "@quartermaster/runtime";

import { type FieldSet, isOurs, managersOf, ourFields, readEntry } from "../fields/managed-fields.ts";
import { fieldManager } from "../marks.ts";
import type { Member } from "../member.ts";
import { isDisallowed } from "../world/drift.ts";

/**
 * Makes the fields of disallowed managers ours, so that the apply that follows removes those which the manifest does not
 * have. With the resourceVersion that was seen: nobody's later work is taken.
 */
export async function takeOverAdditions(
  { member, live, kind }: { readonly member: Member; readonly live: KubeObject; readonly kind: Kind },
  client: Client,
): Promise<KubeObject> {
  const disallowed = managersOf(live).filter((entry) => isDisallowed(entry, member));
  const merged = disallowed.reduce((fields, entry) => union(fields, entry.fields), ourFields(live) ?? {});
  const kept = (live.metadata.managedFields ?? []).filter(
    (entry) => !readEntry(entry).some((read) => isOurs(read) || isDisallowed(read, member)),
  );
  const ours = {
    manager: fieldManager,
    operation: "Apply",
    apiVersion: live.apiVersion,
    fieldsType: "FieldsV1",
    fieldsV1: merged,
  };
  const { uid, resourceVersion } = live.metadata;
  return await client.patch(kind, live.metadata, {
    patch: { kind: "merge", body: { metadata: { uid, resourceVersion, managedFields: [...kept, ours] } } },
  });
}

function union(one: FieldSet, other: FieldSet): FieldSet {
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(
    keys.map((key) => {
      const left = Object.hasOwn(one, key) ? one[key] : undefined;
      const right = Object.hasOwn(other, key) ? other[key] : undefined;
      return [key, left === undefined || right === undefined ? (left ?? right ?? {}) : union(left, right)];
    }),
  );
}
