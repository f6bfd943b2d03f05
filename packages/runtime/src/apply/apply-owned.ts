import type { Applied, Client } from "../client/client.ts";
import { ApiError } from "../errors.ts";
import { deepEqual } from "../object/deep-equal.ts";
import { definedFields } from "../object/defined-fields.ts";
import { fieldOf, isJsonObject } from "../object/json-object.ts";
import { apiVersionOf, type Kind, nameOfKind } from "../object/kind.ts";
import {
  keyOf,
  type KubeObject,
  type Live,
  type ObjectMeta,
  type OwnerReference,
} from "../object/kube-object.ts";
import { reasons } from "../reasons.ts";
import { fieldsAppliedBy, managersOf, ownsMoreThan, unownedPaths } from "./field-set.ts";

/** An object as a controller declares it. apiVersion, kind, namespace and the owner reference are filled in. */
export type Desired<O extends KubeObject> = Omit<Applied<O>, "apiVersion" | "kind">;

/** Who applies, and what is known. */
export interface ApplyOptions<O extends KubeObject> {
  readonly client: Client;
  readonly fieldManager: string;
  readonly owner: Live;
  /** Whether the owner is cluster-scoped: then an object's namespace is its own. */
  readonly isOwnerClusterWide: boolean;
  /** The object as the store has it; undefined when there is none. */
  readonly live: Live<O> | undefined;
  readonly applied: AppliedObjects;
}

/**
 * Objects that this process applied for one owner, by kind and key: a cache, whose loss costs one apply without effect per object. `contested` stands
 * where a write was withdrawn.
 */
export type AppliedObjects = Map<string, object>;

const contested = {};

/**
 * Applies an object for its owner: with an owner reference, and only when the live object differs. Fields that others own are
 * forced only on an object that the owner controls: another's object under the name is never taken over, and throws `conflict`.
 * That holds for one that another client creates between our read and our write, too: the uid of the object that was seen goes with
 * the write, and a first write that meets an object is withdrawn. From then on, the server is queried before it is written again: a source
 * that selects by label sees the object come and go with the write, and would request the next one immediately.
 */
export async function applyOwned<O extends KubeObject>(
  kind: Kind<O>,
  desired: Desired<O>,
  parts: ApplyOptions<O>,
): Promise<Live<O>> {
  const { client, fieldManager, live, applied, owner } = parts;
  const wanted = wantedObject(kind, desired, parts);
  const id = `${nameOfKind(kind)} ${keyOf(wanted.metadata)}`;
  const isOurs = live !== undefined && isControlledBy(live, owner);
  if (live !== undefined && !isOurs) throw nameTaken(kind, live);
  if (isOurs && isAsApplied(wanted, live, { fieldManager, before: applied.get(id) })) return live;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller's typed fields, and the metadata that is ours
  const body = (isOurs ? withUid(wanted, live) : wanted) as unknown as Applied<O>;
  const write = async (
    dryRun: boolean,
  ): Promise<{ readonly written: Live<O>; readonly isTaken: boolean }> => {
    let isNew = false;
    const onCreated = (): void => {
      isNew = true;
    };
    const options = { fieldManager, force: isOurs, onCreated, ...(dryRun ? { dryRun } : {}) };
    const written = await client.apply(kind, body, options);
    return { written, isTaken: !isOurs && !isNew && isMadeByOthers(written, fieldManager) };
  };
  if (applied.get(id) === contested) {
    const { written, isTaken } = await write(true);
    if (isTaken) throw nameTaken(kind, written);
  }
  const { written, isTaken } = await write(false);
  if (isTaken) {
    applied.set(id, contested);
    await withdraw(kind, wanted, parts);
    throw nameTaken(kind, written);
  }
  applied.set(id, wanted);
  return written;
}

/** The server refuses the write with a conflict if another object has the name by now. */
function withUid(wanted: Wanted, { metadata: { uid } }: Live): Wanted {
  return { ...wanted, metadata: { ...wanted.metadata, uid } };
}

/**
 * Whether another manager wrote content of the object. Its metadata alone does not tell: others annotate our objects, and a store that lags
 * behind may not have an object of ours yet.
 */
function isMadeByOthers(written: KubeObject, fieldManager: string): boolean {
  return managersOf(written).some(
    ({ manager, subresource, fields }) =>
      manager !== fieldManager &&
      subresource === undefined &&
      Object.keys(fields).some((field) => field !== "f:metadata" && field !== "f:status"),
  );
}

/** An apply of no field removes what only we own: the owner reference, and with it the garbage collector's claim. */
async function withdraw<O extends KubeObject>(
  kind: Kind<O>,
  { apiVersion, kind: kindName, metadata: { name, namespace } }: Wanted,
  { client, fieldManager }: ApplyOptions<O>,
): Promise<void> {
  const metadata = namespace === undefined ? { name } : { name, namespace };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object without fields
  const bare = { apiVersion, kind: kindName, metadata } as unknown as Applied<O>;
  await client.apply(kind, bare, { fieldManager, force: false });
}

interface Wanted {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

function wantedObject<O extends KubeObject>(
  kind: Kind<O>,
  desired: Desired<O>,
  { owner, isOwnerClusterWide }: ApplyOptions<O>,
): Wanted {
  const { metadata }: { readonly metadata: ObjectMeta } = desired;
  const namespace = kind.scope === "Cluster" || isOwnerClusterWide ? {} : namespaceOf(owner);
  const wanted: Wanted = {
    ...desired,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      ...namespace,
      ...metadata,
      ownerReferences: [...(metadata.ownerReferences ?? []), controllerReference(owner)],
    },
  };
  return wanted;
}

function namespaceOf({ metadata: { namespace } }: KubeObject): Pick<ObjectMeta, "namespace"> {
  return definedFields({ namespace });
}

/** The reference that makes the owner the controller of an object; the garbage collector follows it. */
export function controllerReference({ apiVersion, kind, metadata: { name, uid } }: Live): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** By uid: an object of an owner that had the same name before is not ours. */
export function isControlledBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  const controller = metadata.ownerReferences?.find((reference) => reference.controller === true);
  return controller !== undefined && controller.uid === owner.metadata.uid;
}

/**
 * Whether the live object is what an apply of `wanted` would make of it: the manager owns every field of it and no field besides,
 * and the values are those wanted, or those that this process applied last and the server has rounded or defaulted.
 */
export function isAsApplied(
  wanted: object,
  live: KubeObject,
  { fieldManager, before }: { readonly fieldManager: string; readonly before?: object | undefined },
): boolean {
  const owned = fieldsAppliedBy(live, fieldManager);
  if (owned === undefined || unownedPaths(wanted, owned).length > 0) return false;
  if (before !== undefined) return deepEqual(before, wanted);
  return isWithin(wanted, live) && !ownsMoreThan(owned, wanted);
}

/** Whether every field of one value is in the other with the same value. Lists have to match item by item. */
function isWithin(part: unknown, whole: unknown): boolean {
  if (isJsonObject(part) && isJsonObject(whole))
    return Object.entries(part).every(
      ([key, value]) => value === undefined || isWithin(value, fieldOf(whole, key)),
    );
  if (Array.isArray(part) && Array.isArray(whole))
    return part.length === whole.length && part.every((item, at) => isWithin(item, whole[at]));
  return deepEqual(part, whole);
}

function nameTaken(kind: Kind, live: KubeObject): ApiError {
  const message = `apply ${nameOfKind(kind)} ${keyOf(live.metadata)}: an object of this name exists and has another owner`;
  return new ApiError(message, { class: "conflict", causes: [takenCause], mayHaveActed: false });
}

/** Repeating the apply does not help: a user has to act. */
const takenCause = { field: "metadata.name", reason: reasons.nameTaken, message: "has another owner" };
