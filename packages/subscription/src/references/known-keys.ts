import type { KeyFacts, ObjectIdentity } from "../injection/injection-facts.ts";

/** What is known about objects, by `referenceKey`. Never their values. */
export type KnownKeys = ReadonlyMap<string, KeyFacts>;

/** The object as messages name it. */
export function describeObject({ kind, namespace, name }: ObjectIdentity): string {
  return `${kind} ${namespace}/${name}`;
}
