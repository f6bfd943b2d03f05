import { type MappedSource, passes } from "../controller/controller-definition.ts";
import { statesOf } from "../controller/source-set.ts";
import type { InformerEvent } from "../informers/informer-event.ts";
import type { ObjectRef } from "../object/kube-object.ts";

/** The objects that a controller brings back for an event of a kind in `watches`, each once. */
export function wokenBy({ refsOf, options }: MappedSource, event: InformerEvent): readonly ObjectRef[] {
  if (!passes(options, event)) return [];
  const found = statesOf(event).flatMap((object) => refsOf(object));
  return [
    ...new Map(
      found.map(({ name, namespace }) => [
        `${namespace ?? ""}/${name}`,
        namespace === undefined ? { name } : { name, namespace },
      ]),
    ).values(),
  ];
}
