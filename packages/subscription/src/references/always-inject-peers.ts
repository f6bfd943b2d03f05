import type { Bundle, ClusterBundle } from "@quartermaster/api";
import {
  type KubeObject,
  type Live,
  mappedFrom,
  type MappedSource,
  type ObjectRef,
  type ReadStore,
  type Source,
} from "@quartermaster/runtime";

import { isAlwaysInjected } from "../injection/decide-injection.ts";

/**
 * Which bundles are injected together because of their label. A change of one of them concerns all the others of its namespace: a
 * conflict of keys begins or ends for both sides. A cache: what it lacks is reconciled by its own event.
 */
export class AlwaysInjectPeers {
  readonly #byNamespace = new Map<string, readonly ObjectRef[]>();

  /** The others with the label, in the order of their names; none for a bundle without it. */
  of<O extends Bundle | ClusterBundle>(own: Live<O>, store: ReadStore<O>): readonly Live<O>[] {
    const place = placeOf(own);
    const labelled = store
      .list()
      .filter((each) => isAlwaysInjected(each) && placeOf(each) === place)
      .toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
    if (labelled.length === 0) this.#byNamespace.delete(place);
    else
      this.#byNamespace.set(
        place,
        labelled.map(({ metadata }) => refOf(metadata)),
      );
    return isAlwaysInjected(own) ? labelled.filter(({ metadata }) => metadata.uid !== own.metadata.uid) : [];
  }

  /** Brings the others back when a bundle with the label appears, changes or goes. */
  watch<O extends Bundle | ClusterBundle>(source: Source<O>): MappedSource {
    return mappedFrom<O>(
      source,
      (object) => (isAlwaysInjected(object) ? (this.#byNamespace.get(placeOf(object)) ?? []) : []),
      {
        changed: ({ metadata: { generation, labels, deletionTimestamp }, status }) => [
          generation,
          labels,
          deletionTimestamp,
          status !== undefined && "shares" in status ? status.shares : undefined,
        ],
      },
    );
  }
}

function placeOf({ metadata }: KubeObject): string {
  return metadata.namespace ?? "";
}

function refOf({ name, namespace }: KubeObject["metadata"]): ObjectRef {
  return namespace === undefined ? { name } : { name, namespace };
}
