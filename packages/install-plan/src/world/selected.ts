import type { Client, Kind, KubeObject } from "@quartermaster/runtime";

import { identityKey, identityOf } from "../identity.ts";
import { inBatches } from "../in-batches.ts";
import type { Transformation } from "../manifest/transformation-faults.ts";
import { objectAnnotation, planIdLabel } from "../marks.ts";

/** How a selection is read. The client speaks as the plan's account. */
export interface Selection {
  readonly kind: Kind;
  readonly client: Client;
  readonly place: { readonly namespace?: string };
  /** Keys of the plan's members: they are never taken away. */
  readonly members: ReadonlySet<string>;
}

/**
 * The objects that a transformation selects, without members of the plan: at most one more than its maxMatches, which says
 * enough. Metadata only, and of that only what decides: 500 objects have to fit into memory whatever they hold.
 */
export async function selected(
  from: Transformation["from"],
  selection: Selection,
): Promise<readonly KubeObject[]> {
  const { kind, client, place } = selection;
  const { names } = from;
  if (names === undefined || !isByNameOnly(from)) return await listed(from, selection);
  const found = await inBatches(
    names,
    16,
    async (name) => await client.find(kind, { name, ...place }, { isMetadataOnly: true }),
  );
  return found
    .filter((object) => object !== undefined)
    .filter(isOutside(selection))
    .map(cut);
}

/** Whether `get` is enough to read it. */
export function isByNameOnly({ labelSelector, fieldSelector }: Transformation["from"]): boolean {
  return labelSelector === undefined && fieldSelector === undefined;
}

/** What is named and selected has to be both: each narrows the other. */
async function listed(
  { names, labelSelector, fieldSelector, maxMatches }: Transformation["from"],
  selection: Selection,
): Promise<readonly KubeObject[]> {
  const { kind, client, place } = selection;
  const isWanted = isOutside(selection);
  const objects: KubeObject[] = [];
  const selectors = {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
  for await (const object of client.list(kind, { ...place, ...selectors, isMetadataOnly: true })) {
    const isNamed = names === undefined || names.includes(object.metadata.name);
    if (isNamed && isWanted(object)) objects.push(cut(object));
    if (objects.length > maxMatches) break;
  }
  return objects;
}

function isOutside({ members }: Selection): (object: KubeObject) => boolean {
  return (object) => !members.has(identityKey(identityOf(object)));
}

/** Labels, annotations and managed fields of others may be as large as the server lets them be. */
function cut({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp } = metadata;
  const controllers = metadata.ownerReferences?.filter(({ controller }) => controller === true) ?? [];
  const kept = {
    namespace,
    uid,
    resourceVersion,
    generation,
    deletionTimestamp,
    labels: only(planIdLabel, metadata.labels),
    annotations: only(objectAnnotation, metadata.annotations),
    ownerReferences: controllers.length === 0 ? undefined : controllers,
  };
  const present = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  return { apiVersion, kind, metadata: { name, ...present } };
}

function only(
  key: string,
  texts: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  const text = texts?.[key];
  return text === undefined ? undefined : { [key]: text };
}
