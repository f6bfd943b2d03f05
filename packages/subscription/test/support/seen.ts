import type { Bundle, ClusterBundle } from "@quartermaster/api";
import type { Live } from "@quartermaster/runtime";

import { type KeyFacts, type Reference, referenceKey } from "../../src/injection/injection-facts.ts";

/** An entitlement of namespace `ns`. */
export function entitlement(name: string, parts: Partial<Reference> = {}): Reference {
  const object = { kind: "Secret", namespace: "ns", name } as const;
  return {
    purpose: "entitlement",
    object,
    statedNamespace: undefined,
    items: undefined,
    prefix: undefined,
    isOptional: false,
    ...parts,
  };
}

/** What is known of Secrets of namespace `ns`: the keys of each. */
export function keysOf(secrets: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, KeyFacts> {
  return new Map(
    Object.entries(secrets).map(([name, keys]) => [
      referenceKey({ kind: "Secret", namespace: "ns", name }),
      { kind: "keys", keys },
    ]),
  );
}

/** A ClusterBundle called `cb`. */
export function aClusterBundle(spec: object, status: object = {}): Live<ClusterBundle> {
  return {
    apiVersion: "subscription.openshift.io/v1alpha1",
    kind: "ClusterBundle",
    metadata: { name: "cb", uid: "uid-of-cb", resourceVersion: "1", generation: 1 },
    spec: { shareRetention: "Immediate", ...spec },
    status,
  } as unknown as Live<ClusterBundle>;
}

/** A Bundle called `b` of namespace `ns`. */
export function aBundle(spec: object): Live<Bundle> {
  return {
    apiVersion: "subscription.openshift.io/v1alpha1",
    kind: "Bundle",
    metadata: { name: "b", namespace: "ns", uid: "uid-of-b", resourceVersion: "1", generation: 1 },
    spec,
  };
}
