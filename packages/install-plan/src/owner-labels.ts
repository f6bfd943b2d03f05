import { createHash } from "node:crypto";

import type { InstallPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";

import { type Identity, identityKey, identityOf } from "./identity.ts";

/** Label by which the objects of a plan are found. Watches select on its existence. */
export const planIdLabel = "install.quartermaster.dev/plan-id";
/** For people: the plan's name, where it fits a label. */
const planLabel = "install.quartermaster.dev/plan";
/** For people: how many plans stood in this one's place before, and this one. */
const revisionLabel = "install.quartermaster.dev/revision";
/**
 * Annotation that names the object it was made for: a copy of our marks on another object proves nothing. It never changes
 * when plans do, because the API server counts a changed annotation of a Deployment as a new generation.
 */
export const objectAnnotation = "install.quartermaster.dev/object";
/** One name for all plans: with one name each, the fields of a replaced plan would stay alive after the handover. */
export const fieldManager = "quartermaster";

/** Whose marks are made: the plan, and its number in the line of those that replaced each other. */
export interface OwnerLabels {
  readonly plan: Pick<InstallPlan, "metadata">;
  readonly revision: number;
}

/** What tells one plan from another, also from one of the same name before it. */
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

/** A reconcile asks for the id of its plan once per object; what comes from stores is never edited. */
const ids = new WeakMap<PlanRef, string>();

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

/** The id of the plan whose mark the object bears; undefined without a mark, or with one that was made for another object. */
export function planIdOn(object: KubeObject): string | undefined {
  return isProven(object) ? object.metadata.labels?.[planIdLabel] : undefined;
}

/** Whether an annotation of ours says that its marks were made for this very object. */
export function isProven(object: KubeObject): boolean {
  return object.metadata.annotations?.[objectAnnotation] === identityKey(identityOf(object));
}

/** Whether the object bears the marks of the plan. */
export function isLabelledBy(object: KubeObject, plan: PlanRef): boolean {
  return planIdOn(object) === planId(plan);
}

/** The labels and annotations of ours, to be taken off. */
export const ownLabels: readonly string[] = [planIdLabel, planLabel, revisionLabel];
