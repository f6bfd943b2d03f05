import type { Bundle, ClusterBundle } from "@quartermaster/api";
import {
  byNamespace,
  type KubeObject,
  type Live,
  mappedFrom,
  type MappedSource,
  type ObjectRef,
  type ReadStore,
  type Source,
} from "@quartermaster/runtime";

import { labelledLimit } from "../injection/choose-bundles.ts";
import { isAlwaysInjected } from "../injection/decide-injection.ts";
import type { Reference } from "../injection/injection-facts.ts";
import { compareTexts, type Provider } from "./judge-keys.ts";
import { withinLimits } from "./within-limits.ts";

/** How bundles of a kind are compared. */
export interface PeersOptions<O extends Bundle | ClusterBundle> {
  /** References of a bundle that count for others. */
  readonly referencesOf: (bundle: Live<O>) => readonly Reference[];
}

/** Facts derived from all bundles of a namespace, or of the cluster; kept until one of them changes. */
interface Location {
  /** In the order of their names. The same list until something changes: results about it are kept by it. */
  readonly providers: readonly Provider[];
  /** Names of labelled bundles that come after those that are injected. */
  readonly surplus: ReadonlySet<string>;
  /** Uids of bundles beyond the limits of their namespace. */
  readonly beyond: ReadonlySet<string>;
}

/** Bundles with the label, in the order of their names, and the changes of such bundles since. */
interface Concerned {
  readonly labelled: readonly ObjectRef[];
  changes: number;
}

/**
 * Which bundles are injected together because of their label: the first ones by name, as pods get them. A change of one of them concerns
 * all the others: a conflict of keys begins or ends for both sides. What is derived is kept, so that an edit costs one pass over the
 * bundles of a namespace instead of one for each of them.
 */
export class AlwaysInjectPeers<O extends Bundle | ClusterBundle> {
  readonly #options: PeersOptions<O>;
  readonly #locations = new Map<string, Location>();
  /** Outlives the place, because a change has to reach those who were concerned before it. A cache: what it lacks is reconciled by its own event. */
  readonly #concerned = new Map<string, Concerned>();

  constructor(options: PeersOptions<O>) {
    this.#options = options;
  }

  /** All bundles that are injected together with this one, itself included; none for a bundle that is not. */
  of(own: Live<O>, store: ReadStore<O>): readonly Provider[] {
    const { providers } = this.#location(own, store);
    return isAlwaysInjected(own) && providers.some(({ name }) => name === own.metadata.name) ? providers : [];
  }

  /** Whether pods that name no bundle go without this one, although it has the label. */
  isSurplus(own: Live<O>, store: ReadStore<O>): boolean {
    return isAlwaysInjected(own) && this.#location(own, store).surplus.has(own.metadata.name);
  }

  /** Whether the namespace has more bundles or references than are served, and this one comes after them. */
  isBeyondLimits(own: Live<O>, store: ReadStore<O>): boolean {
    return this.#location(own, store).beyond.has(own.metadata.uid);
  }

  /** Brings the others back when a bundle with the label appears, changes or goes. */
  watch(source: Source<O>): MappedSource {
    return mappedFrom<O>(
      source,
      (object) => {
        this.#locations.delete(locationOf(object));
        return isAlwaysInjected(object) ? this.#concernedBy(locationOf(object)) : [];
      },
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

  /** Each change may let one more in; several may come before the place is derived again. */
  #concernedBy(location: string): readonly ObjectRef[] {
    const known = this.#concerned.get(location);
    if (known === undefined) return [];
    known.changes += 1;
    return known.labelled.slice(0, labelledLimit + known.changes);
  }

  #location(own: Live<O>, store: ReadStore<O>): Location {
    const location = locationOf(own);
    const known = this.#locations.get(location);
    if (known !== undefined) return known;
    const all = location === "" ? store.list() : store.listBy(byNamespace, location);
    const beyond = location === "" ? new Set<string>() : withinLimits(all).beyond;
    const labelled = all
      .filter((each) => isAlwaysInjected(each))
      .toSorted((one, other) => compareTexts(one.metadata.name, other.metadata.name));
    const injected = labelled.slice(0, labelledLimit);
    const made: Location = {
      providers: injected
        .filter(({ metadata }) => !beyond.has(metadata.uid))
        .map((each) => ({ name: each.metadata.name, references: this.#options.referencesOf(each) })),
      surplus: new Set(labelled.slice(labelledLimit).map(({ metadata }) => metadata.name)),
      beyond,
    };
    this.#locations.set(location, made);
    const concerned = labelled.map(({ metadata }) => refOf(metadata));
    if (concerned.length === 0) this.#concerned.delete(location);
    else this.#concerned.set(location, { labelled: concerned, changes: 0 });
    return made;
  }
}

function locationOf({ metadata }: KubeObject): string {
  return metadata.namespace ?? "";
}

function refOf({ name, namespace }: KubeObject["metadata"]): ObjectRef {
  return namespace === undefined ? { name } : { name, namespace };
}
