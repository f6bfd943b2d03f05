import type { KubeObject, Live } from "../object/kube-object.ts";

/** Event of an informer. `isInitial`: the object existed already; the handler sees it for the first time. */
export type InformerEvent<O extends KubeObject = KubeObject> =
  | { readonly type: "added"; readonly isInitial: boolean; readonly new: Live<O> }
  | { readonly type: "updated"; readonly isInitial: boolean; readonly old: Live<O>; readonly new: Live<O> }
  /** `old` is the last state known. */
  | { readonly type: "deleted"; readonly isInitial: false; readonly old: Live<O> };

/** Hears of every change, in order. What it throws is counted and goes no further. */
export type InformerHandler<O extends KubeObject = KubeObject> = (event: InformerEvent<O>) => void;

/** The object an event is about, in its latest known state. */
export function objectOf<O extends KubeObject>(event: InformerEvent<O>): Live<O> {
  return event.type === "deleted" ? event.old : event.new;
}
