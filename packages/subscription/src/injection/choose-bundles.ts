import type { Problem } from "../reasons.ts";
import {
  type Annotations,
  annotations,
  type NameList,
  readFilterList,
  readInjectList,
} from "./annotations.ts";
import type { BundleKind, Candidate } from "./injection-facts.ts";

/** The bundles with the always-inject label, by name. */
export interface LabelledBundles {
  readonly bundles: readonly string[];
  readonly clusterBundles: readonly string[];
}

/** Which bundles a pod is to get: named ones in the order of the annotations, then labelled ones by name. */
export type Choice =
  | {
      readonly kind: "chosen";
      readonly candidates: readonly Candidate[];
      readonly warnings: readonly string[];
    }
  | { readonly kind: "problem"; readonly problem: Problem };

/**
 * Chooses by the pod's annotations. Named bundles are never filtered; labelled ones are filtered by the allow list, if there is
 * one, and then by the deny list. A bundle that is both named and denied is injected, with a warning.
 */
export function chooseBundles(given: Annotations, labelled: LabelledBundles): Choice {
  const bundles = chooseOfKind("Bundle", given, labelled.bundles);
  if (bundles.kind === "problem") return bundles;
  const clusterBundles = chooseOfKind("ClusterBundle", given, labelled.clusterBundles);
  if (clusterBundles.kind === "problem") return clusterBundles;
  const all = [...bundles.candidates, ...clusterBundles.candidates];
  return {
    kind: "chosen",
    candidates: [...all.filter(({ isNamed }) => isNamed), ...all.filter(({ isNamed }) => !isNamed)],
    warnings: [...bundles.warnings, ...clusterBundles.warnings],
  };
}

const lists = {
  Bundle: {
    inject: annotations.injectBundle,
    allow: annotations.allowBundles,
    deny: annotations.denyBundles,
  },
  ClusterBundle: {
    inject: annotations.injectClusterBundle,
    allow: annotations.allowClusterBundles,
    deny: annotations.denyClusterBundles,
  },
} as const;

/** The annotation by which a pod excludes a labeled bundle. */
export function denyAnnotation(kind: BundleKind): string {
  return lists[kind].deny;
}

/** The annotation by which a pod names a bundle. */
export function injectAnnotation(kind: BundleKind): string {
  return lists[kind].inject;
}

function chooseOfKind(kind: BundleKind, given: Annotations, labelled: readonly string[]): Choice {
  const named = readInjectList(given, lists[kind].inject);
  const allow = readFilterList(given, lists[kind].allow);
  const deny = readFilterList(given, lists[kind].deny);
  for (const list of [named, allow, deny]) if (list?.kind === "problem") return list;
  const denied = namesIn(deny);
  const isWanted = (name: string): boolean =>
    (allow === undefined || isListed(namesIn(allow), name)) && !isListed(denied, name);
  const names = namesIn(named);
  const automatic = labelled.filter((name) => !names.includes(name) && isWanted(name)).toSorted(byCodeUnit);
  const surplus = automatic.splice(labelledLimit);
  return {
    kind: "chosen",
    candidates: [
      ...names.map((name) => ({ kind, name, isNamed: true })),
      ...automatic.map((name) => ({ kind, name, isNamed: false })),
    ],
    warnings: [
      ...names
        .filter((name) => isListed(denied, name))
        .map((name) => `${kind} "${name}" is named and denied; it is injected`),
      ...(surplus.length === 0
        ? []
        : [`only the first ${labelledLimit} always-inject ${kind}s are injected`]),
    ],
  };
}

/** Bundles of each kind that a pod gets without naming them: each costs every pod some requests. */
export const labelledLimit = 32;

function namesIn(list: NameList | undefined): readonly string[] {
  return list?.kind === "names" ? list.names : [];
}

function isListed(names: readonly string[], name: string): boolean {
  return names.includes("*") || names.includes(name);
}

/** The same order on every machine. */
function byCodeUnit(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
