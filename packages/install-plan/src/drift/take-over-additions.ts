import {
  type Client,
  fieldsAppliedBy,
  type FieldSet,
  isApplyOf,
  isJsonObject,
  type Kind,
  type KubeObject,
  managersOf,
  readManagerEntry,
} from "@quartermaster/runtime";

import type { Member } from "../model/member.ts";
import { beyond } from "../ownership/applied-manifest.ts";
import { fieldManager } from "../ownership/owner-labels.ts";
import { isDisallowed, strictFields } from "./drift.ts";

/**
 * Makes the fields of disallowed managers ours, so that the apply that follows removes those which the manifest does not
 * have. Others keep what the plan excludes. With the resourceVersion that was seen: no later write is lost.
 */
export async function takeOverAdditions(
  { member, live, kind }: { readonly member: Member; readonly live: KubeObject; readonly kind: Kind },
  client: Client,
): Promise<KubeObject> {
  const disallowed = managersOf(live).filter((entry) => isDisallowed(entry, member));
  const merged = disallowed.reduce(
    (fields, entry) => union(fields, strictFields(entry.fields, member)),
    fieldsAppliedBy(live, fieldManager) ?? {},
  );
  const kept = (live.metadata.managedFields ?? []).flatMap((entry: unknown): readonly unknown[] => {
    const [read] = readManagerEntry(entry);
    if (
      read === undefined ||
      !isJsonObject(entry) ||
      !(isApplyOf(read, fieldManager) || isDisallowed(read, member))
    )
      return [entry];
    const left = isApplyOf(read, fieldManager) ? {} : beyond(read.fields, strictFields(read.fields, member));
    return Object.keys(left).length === 0 ? [] : [{ ...entry, fieldsV1: left }];
  });
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
