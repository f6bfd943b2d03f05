import type { InformerEvent } from "../informers/informer-event.ts";
import { deepEqual } from "../object/deep-equal.ts";
import type { KubeObject, Live } from "../object/kube-object.ts";

/** Which events matter. */
export interface Predicate<O extends KubeObject = KubeObject> {
  /** False drops the event. */
  readonly event?: (event: InformerEvent<O>) => boolean;
  /** An update matters only when what this gives has changed. Creation and deletion always matter. */
  readonly changed?: (object: Live<O>) => unknown;
}

/** Whether an event passes. */
export function passes<O extends KubeObject>(
  { event: judge, changed }: Predicate<O>,
  event: InformerEvent<O>,
): boolean {
  if (judge !== undefined && !judge(event)) return false;
  if (event.type !== "updated" || changed === undefined) return true;
  return !deepEqual(changed(event.old), changed(event.new));
}

/**
 * What a controller reacts to on its own kind by default: the spec (by its generation), labels, annotations, finalizers and
 * the wish to delete. Not the status: that is our own writing. Kinds without generation have no such split.
 */
export const declarationChanged: Predicate = {
  event: (event) =>
    event.type !== "updated" ||
    event.new.metadata.generation === undefined ||
    isDeclaredAnew(event.old, event.new),
};

/** Scalars first: most events differ in the generation, and then nothing else need be compared. */
function isDeclaredAnew({ metadata: old }: KubeObject, { metadata: now }: KubeObject): boolean {
  return (
    old.generation !== now.generation ||
    old.uid !== now.uid ||
    old.deletionTimestamp !== now.deletionTimestamp ||
    !deepEqual(old.labels, now.labels) ||
    !deepEqual(old.annotations, now.annotations) ||
    !deepEqual(old.finalizers, now.finalizers)
  );
}
