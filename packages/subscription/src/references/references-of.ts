import type { Bundle, ClusterBundle } from "@quartermaster/api";

import {
  type KeyFacts,
  type ObjectIdentity,
  type Reference,
  referencesOf as referencesIn,
} from "../injection/injection-facts.ts";

/** What is known about objects, by `referenceKey`. Never their values. */
export type KnownKeys = ReadonlyMap<string, KeyFacts>;

/** All references of a bundle. Those of a Bundle are in its own namespace by default. */
export function referencesOf(bundle: Bundle | ClusterBundle): readonly Reference[] {
  return referencesIn(bundle, bundle.metadata.namespace ?? "");
}

/** The object as messages name it. */
export function describeObject({ kind, namespace, name }: ObjectIdentity): string {
  return `${kind} ${namespace}/${name}`;
}
