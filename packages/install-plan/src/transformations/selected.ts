import {
  type Client,
  inParallel,
  type Kind,
  type KubeObject,
  type ListOptions,
} from "@quartermaster/runtime";

import type { Transformation } from "../manifest/transformation-problems.ts";
import { identityKey, identityOf } from "../model/identity.ts";
import { objectAnnotation, ownershipProof, planIdLabel } from "../ownership/owner-labels.ts";
import { metadataTrace } from "../preflight/preflight.ts";

/** How a selection is read. The client speaks as the plan's account. */
export interface Selection {
  readonly kind: Kind;
  readonly client: Client;
  readonly location: { readonly namespace?: string };
  /** Keys of the plan's members: they are never taken away. */
  readonly members: ReadonlySet<string>;
  /** Uids of what may be deleted, once the plan has started; undefined before. */
  readonly pinned?: ReadonlySet<string> | undefined;
}

/** A selected object, with a trace that changes when it does. */
export interface Selected extends KubeObject {
  readonly trace: string;
}

/**
 * The objects that a transformation selects, without members of the plan: at most one more than its maxMatches, which says
 * enough; once the plan has started, those that are pinned and a few others to report. Metadata only, and of that only what
 * decides: 500 objects have to fit into memory whatever they hold.
 */
export async function selected(
  from: Transformation["from"],
  selection: Selection,
): Promise<readonly Selected[]> {
  const { kind, client, location } = selection;
  const { names } = from;
  if (names === undefined || !isByNameOnly(from)) return await listed(from, selection);
  const found = await inParallel(
    names,
    16,
    async (name) => await client.find(kind, { name, ...location }, { isMetadataOnly: true }),
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

/** Objects have to match name and selector: each narrows the other. */
async function listed(from: Transformation["from"], selection: Selection): Promise<readonly Selected[]> {
  const { kind, client, location, pinned } = selection;
  const isWanted = isOutside(selection);
  const found: Selected[] = [];
  const late: Selected[] = [];
  for await (const object of client.list(kind, { ...location, ...selectorsOf(from), isMetadataOnly: true })) {
    if (!isNamed(object, from) || !isWanted(object)) continue;
    const isPinned = pinned === undefined || pinned.has(object.metadata.uid ?? "");
    if (isPinned) found.push(cut(object));
    else if (late.length < lateLimit) late.push(cut(object));
    if (pinned === undefined && found.length > from.maxMatches) break;
  }
  return [...found, ...late];
}

function isNamed({ metadata }: KubeObject, { names }: Transformation["from"]): boolean {
  return names === undefined || names.includes(metadata.name);
}

function selectorsOf({
  labelSelector,
  fieldSelector,
}: Transformation["from"]): Pick<ListOptions, "labelSelector" | "fieldSelector"> {
  return {
    labelSelector,
    fieldSelector,
  };
}

/** Later matches are only reported, however many there are. */
const lateLimit = 20;

function isOutside({ members }: Selection): (object: KubeObject) => boolean {
  return (object) => !members.has(identityKey(identityOf(object)));
}

/** Labels, annotations and managed fields of others may be as large as the server lets them be. */
function cut(object: KubeObject): Selected {
  const { apiVersion, kind, metadata } = object;
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
    managedFields: ownershipProof(object),
  };
  const present = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  return { apiVersion, kind, metadata: { name, ...present }, trace: metadataTrace(object) };
}

function only(
  key: string,
  texts: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  const text = texts?.[key];
  return text === undefined ? undefined : { [key]: text };
}
