import { createHash } from "node:crypto";

import type { InstallPlan } from "@quartermaster/api";
import { defineIndex, fieldOf, isApplyOf, type KubeObject, readManagerEntry } from "@quartermaster/runtime";

import { type Identity, identityKey, identityOf } from "../model/identity.ts";

/** Label by which the objects of a plan are found. Watches select on its existence. */
export const planIdLabel = "install.quartermaster.dev/plan-id";
/** For people: the plan's name, where it fits a label. */
const planLabel = "install.quartermaster.dev/plan";
/** For people: how many plans came before this one, plus one. */
const revisionLabel = "install.quartermaster.dev/revision";
/**
 * Annotation that names the object it was made for: a copy of our owner labels on another object proves nothing. It never changes
 * when plans do, because the API server counts a changed annotation of a Deployment as a new generation.
 */
export const objectAnnotation = "install.quartermaster.dev/object";
/** One name for all plans: with one name each, the fields of a replaced plan would stay alive after the handover. */
export const fieldManager = "quartermaster";

/** Of its own, because a client of ours that names no manager is `quartermaster` to the server, with updates. */
export const jobFieldManager = "quartermaster-job";

/** Whose owner labels are made: the plan, and its number in the line of those that replaced each other. */
export interface OwnerLabels {
  readonly plan: Pick<InstallPlan, "metadata">;
  readonly revision: number;
}

/** Identity of a plan, also from one of the same name before it. */
export type PlanRef = Pick<KubeObject["metadata"], "namespace" | "name" | "uid">;

/** The label's value for a plan: hexadecimal, because label values must begin and end with a letter or digit. */
export function planId(plan: PlanRef): string {
  const known = ids.get(plan);
  if (known !== undefined) return known;
  const { namespace = "", name, uid = "" } = plan;
  const id = createHash("sha256").update(`${namespace}/${name}/${uid}`).digest("hex").slice(0, 40);
  ids.set(plan, id);
  return id;
}

/** A reconcile requests the id of its plan once per object; what comes from stores is never edited. */
const ids = new WeakMap<PlanRef, string>();

/** Plans by what their objects' labels say: no one walks over all plans of the cluster. */
export const byPlanId = defineIndex<InstallPlan>("plan id", ({ metadata }) => [planId(metadata)]);

/** Labels and annotations that an object of the plan bears. */
export function ownerLabelsFor(
  { plan: { metadata }, revision }: OwnerLabels,
  identity: Identity,
): Required<Pick<KubeObject["metadata"], "labels" | "annotations">> {
  return {
    labels: {
      [planIdLabel]: planId(metadata),
      [revisionLabel]: String(revision),
      ...(metadata.name.length > 63 ? {} : { [planLabel]: metadata.name }),
    },
    annotations: { [objectAnnotation]: identityKey(identity) },
  };
}

/**
 * The id of the plan whose owner label the object has and that applied it; undefined without a label, with one that was made for
 * another object, and with one that was not put there by an apply of ours: any client can write labels. What that proves, and
 * what it does not: docs/decisions/0019.
 */
export function planIdOn(object: KubeObject): string | undefined {
  const known = ownerLabels.get(object);
  if (known !== undefined) return known.id;
  const id = isProven(object) && ownsLabels(object) ? claimedPlanId(object) : undefined;
  ownerLabels.set(object, { id });
  return id;
}

/** Objects from stores are never edited, and a reconcile reads each more than once. */
const ownerLabels = new WeakMap<KubeObject, { readonly id: string | undefined }>();

/** The id of the plan that the labels of the object name, whether or not that is proven. */
export function claimedPlanId(object: KubeObject): string | undefined {
  return object.metadata.labels?.[planIdLabel];
}

/** The name of the plan that the labels of the object name; undefined where it did not fit a label. */
export function claimedPlanName(object: KubeObject): string | undefined {
  return object.metadata.labels?.[planLabel];
}

/** Whether an annotation of ours says that its owner labels were made for this very object. */
export function isProven(object: KubeObject): boolean {
  return object.metadata.annotations?.[objectAnnotation] === identityKey(identityOf(object));
}

/** Whether the object has the owner labels of the plan. */
export function isLabelledBy(object: KubeObject, plan: PlanRef): boolean {
  return planIdOn(object) === planId(plan);
}

/** A write of ours owns the label or, where another client has written the label too, the annotation. */
function ownsLabels(object: KubeObject): boolean {
  return ownershipProof(object).length > 0;
}

/** The managed fields that prove that the owner labels are ours; empty without a proof. */
export function ownershipProof({ metadata }: KubeObject): readonly object[] {
  const entries: readonly unknown[] = metadata.managedFields ?? [];
  return entries.filter(isOurWrite).flatMap((entry) => {
    const [path] = labelPaths.filter((each) => valueAt(entry, each) !== undefined);
    if (path === undefined) return [];
    const fields = path.toReversed().reduce<object>((inner, key) => ({ [key]: inner }), {});
    return [{ manager: textAt(entry, "manager"), operation: textAt(entry, "operation"), ...fields }];
  });
}

const labelPaths: readonly (readonly string[])[] = [
  ["fieldsV1", "f:metadata", "f:labels", `f:${planIdLabel}`],
  ["fieldsV1", "f:metadata", "f:annotations", `f:${objectAnnotation}`],
];

/** Objects are applied; Jobs of stages are created, because nothing of them may change. */
function isOurWrite(entry: unknown): boolean {
  if (textAt(entry, "subresource") !== undefined) return false;
  const write = `${textAt(entry, "operation") ?? ""} ${textAt(entry, "manager") ?? ""}`;
  return write === `Apply ${fieldManager}` || write === `Update ${jobFieldManager}`;
}

function textAt(value: unknown, key: string): string | undefined {
  const found = fieldOf(value, key);
  return typeof found === "string" && found !== "" ? found : undefined;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(fieldOf, value);
}

/** The labels and annotations of ours, to be taken off. */
const ownLabels: readonly string[] = [planIdLabel, planLabel, revisionLabel];

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
