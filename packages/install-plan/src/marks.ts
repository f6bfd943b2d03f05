import { createHash } from "node:crypto";

import type { InstallPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";
import { z } from "zod";

import { type Identity, identityKey, identityOf } from "./identity.ts";

/** Label by which the objects of a plan are found. Watches select on its existence. */
export const planIdLabel = "install.quartermaster.dev/plan-id";
/** Annotation that proves whose an object is. */
export const ownerAnnotation = "install.quartermaster.dev/owner";
/** One name for all plans: with one name each, the fields of a replaced plan would stay alive after the handover. */
export const fieldManager = "quartermaster";

/** What the proof on an object says. */
export interface OwnerMark {
  /** `namespace/name` of the plan. */
  readonly plan: string;
  readonly uid: string;
  readonly revision: number;
  /** The object that the proof was made for: a copy of it on another object proves nothing. */
  readonly object: string;
  /** Digest of the manifest that was applied. */
  readonly content: string;
}

const ownerMark = z.object({
  plan: z.string(),
  uid: z.string(),
  revision: z.number().int(),
  object: z.string(),
  content: z.string(),
});

/** Whose marks are made: the plan, and how many plans stood in its place before. */
export interface Marker {
  readonly plan: Pick<InstallPlan, "metadata">;
  readonly revision: number;
}

/** The label's value for a plan: hexadecimal, because label values must begin and end with a letter or digit. */
export function planId({
  metadata: { namespace = "", name, uid = "" },
}: Pick<InstallPlan, "metadata">): string {
  return createHash("sha256").update(`${namespace}/${name}/${uid}`).digest("hex").slice(0, 40);
}

/** Labels and annotations that an object of the plan bears. Fixed order and form: equal marks are equal texts. */
export function marksFor(
  { plan, revision }: Marker,
  { identity, digest }: { readonly identity: Identity; readonly digest: string },
): {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
} {
  const { namespace = "", name, uid = "" } = plan.metadata;
  const mark: OwnerMark = {
    plan: `${namespace}/${name}`,
    uid,
    revision,
    object: identityKey(identity),
    content: digest,
  };
  return {
    labels: { [planIdLabel]: planId(plan) },
    annotations: { [ownerAnnotation]: JSON.stringify(mark) },
  };
}

/** The proof on an object; undefined when there is none, or when it was made for another object. */
export function ownerMarkOf(object: KubeObject): OwnerMark | undefined {
  const text = object.metadata.annotations?.[ownerAnnotation];
  if (text === undefined) return undefined;
  const mark = ownerMark.safeParse(jsonOf(text)).data;
  return mark?.object === identityKey(identityOf(object)) ? mark : undefined;
}

/** Whether the object bears both marks of the plan. */
export function isMarkedBy(object: KubeObject, plan: Pick<InstallPlan, "metadata">): boolean {
  return (
    object.metadata.labels?.[planIdLabel] === planId(plan) && ownerMarkOf(object)?.uid === plan.metadata.uid
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whatever it is, it proves nothing.
    return undefined;
  }
}
