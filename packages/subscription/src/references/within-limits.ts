import type { Bundle, ClusterBundle } from "@quartermaster/api";
import type { Live, Why } from "@quartermaster/runtime";

import { bundleReasons } from "../bundle-reasons.ts";
import { referenceKey, referenceLimit, referencesOf } from "../injection/injection-facts.ts";

/** Bundles of one namespace that are served. Each costs watches, Roles and memory, and a tenant may create any number. */
export const bundleLimit = 128;

/**
 * Decides which bundles of a namespace are served: the oldest ones, up to 128 of them with 256 different objects. In this order a new
 * bundle never takes the place of one that works.
 */
export function withinLimits(bundles: readonly Live<Bundle | ClusterBundle>[]): {
  readonly beyond: ReadonlySet<string>;
} {
  const objects = new Set<string>();
  const beyond = new Set<string>();
  const ordered = bundles.length > 1 ? bundles.toSorted(byAge) : bundles;
  for (const [at, bundle] of ordered.entries()) {
    const keys = at < bundleLimit ? referencesOf(bundle).map(({ object }) => referenceKey(object)) : [];
    const added = new Set(keys.filter((key) => !objects.has(key)));
    if (at >= bundleLimit || objects.size + added.size > referenceLimit) beyond.add(bundle.metadata.uid);
    else for (const key of added) objects.add(key);
  }
  return { beyond };
}

export interface SeenLimits {
  /** The namespace has more than is served, and this bundle comes after that: nothing of it is read. */
  readonly isBeyond: boolean;
  /** It has the always-inject label and comes after those that pods get. */
  readonly isSurplus: boolean;
}

export const beyondLimits: Why = {
  reason: bundleReasons.namespaceLimit,
  message: `The namespace has more Bundles or referenced objects than are served: ${bundleLimit} Bundles, which refer to ${referenceLimit} Secrets and ConfigMaps. Older Bundles come first; delete those that are not needed.`,
};

export function surplusOf(kind: "Bundle" | "ClusterBundle", limit: number): Why {
  return {
    reason: bundleReasons.alwaysInjectLimit,
    message: `Only the first ${limit} always-inject ${kind}s by name are injected into pods that name none. Remove the label from one of them.`,
  };
}

function byAge({ metadata: one }: Live, { metadata: other }: Live): number {
  const [first, second] = [one.creationTimestamp ?? "", other.creationTimestamp ?? ""];
  if (first !== second) return first < second ? -1 : 1;
  return one.name < other.name ? -1 : 1;
}
