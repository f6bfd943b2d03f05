import type { ClusterBundle } from "@quartermaster/api";
import { unreachable } from "@quartermaster/runtime";

import { type Problem, reasons } from "../reasons.ts";
import {
  type Candidate,
  fileLimit,
  type InjectionFacts,
  type KeyPath,
  objectKeyLimit,
  type ObjectIdentity,
  type Purpose,
  type Reference,
  referenceKey,
  referenceLimit,
  referencesOf,
  filesOf,
} from "./injection-facts.ts";

/** One object of a bundle, ready to be mounted. */
export interface Source {
  readonly purpose: Purpose;
  readonly object: ObjectIdentity;
  /** The Share to mount it through; undefined for Bundles, whose objects are projected. */
  readonly share: string | undefined;
  readonly isOptional: boolean;
  /** The chosen keys with their file names; undefined: all keys under their own names. */
  readonly items: readonly KeyPath[] | undefined;
  /** The files that appear in the pod; none for an optional object that does not exist. */
  readonly files: readonly KeyPath[];
}

/** A bundle with everything that is mounted for it. */
export interface ResolvedBundle {
  readonly candidate: Candidate;
  readonly generation: number;
  readonly defaultMode: number | undefined;
  readonly sources: readonly Source[];
}

/** A resolved bundle, or why it cannot be injected. */
export type Resolution =
  | { readonly kind: "resolved"; readonly bundle: ResolvedBundle }
  | { readonly kind: "problem"; readonly problem: Problem };

/** Finds a bundle and its objects among the facts. */
export function resolveBundle(candidate: Candidate, facts: InjectionFacts): Resolution {
  return candidate.kind === "Bundle"
    ? resolveNamespaced(candidate, facts)
    : resolveClusterWide(candidate, facts);
}

function resolveNamespaced(candidate: Candidate, facts: InjectionFacts): Resolution {
  const { name } = candidate;
  const { namespace } = facts;
  const bundle = facts.bundles.get(name);
  if (bundle === undefined || bundle.metadata.deletionTimestamp !== undefined)
    return problem(reasons.bundleNotFound, `Bundle "${name}" not found in namespace "${namespace}"`);
  const references = referencesOf(bundle);
  if (references.some(({ statedNamespace = namespace }) => statedNamespace !== namespace))
    return problem(
      reasons.crossNamespaceReference,
      `Bundle "${name}" refers to an object of another namespace; only a ClusterBundle may`,
    );
  const { generation = 0 } = bundle.metadata;
  const { defaultMode } = bundle.spec;
  return withSources({ candidate, generation, defaultMode }, references, {
    facts,
    call: ({ kind, name: object }) => `${kind} "${object}" of Bundle "${name}"`,
  });
}

/** One text for "absent" and "forbidden": who may not use a bundle does not learn whether it exists. */
function resolveClusterWide(candidate: Candidate, facts: InjectionFacts): Resolution {
  const { name } = candidate;
  const bundle = facts.clusterBundles.get(name);
  if (facts.access.get(name) !== "allowed") return problem(reasons.accessDenied, `ClusterBundle "${name}"`);
  if (bundle === undefined || bundle.metadata.deletionTimestamp !== undefined)
    return problem(reasons.clusterBundleNotFound, `ClusterBundle "${name}" not found`);
  const invalid = reasonOfTrue(bundle, "Invalid");
  if (invalid !== undefined)
    return problem(
      reasons.bundleInvalid,
      `ClusterBundle "${name}" is invalid (${invalid}); its status says why`,
    );
  const { generation = 0 } = bundle.metadata;
  return withSources({ candidate, generation, defaultMode: undefined }, referencesOf(bundle), {
    facts,
    // Its author chose these objects; who may use the bundle need not know them.
    call: ({ kind }) => `a ${kind} of ClusterBundle "${name}"`,
    shares: sharesOf(bundle),
  });
}

/** The reason of a condition that is True; undefined when it is not. */
function reasonOfTrue({ status }: ClusterBundle, type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === "True")
    ?.reason;
}

/** Names of the Shares by the object they share. None while no driver could mount them. */
function sharesOf(bundle: ClusterBundle): ReadonlyMap<string, string> {
  if (reasonOfTrue(bundle, "DriverUnavailable") !== undefined) return new Map();
  return new Map(
    (bundle.status?.shares ?? []).flatMap(({ name, ref }) =>
      ref === undefined ? [] : [[referenceKey(ref), name] as const],
    ),
  );
}

interface Lookup {
  readonly facts: InjectionFacts;
  /** How an object is called in messages. */
  readonly call: (object: ObjectIdentity) => string;
  /** Only for ClusterBundles. */
  readonly shares?: ReadonlyMap<string, string>;
}

function withSources(
  bundle: Omit<ResolvedBundle, "sources">,
  references: readonly Reference[],
  lookup: Lookup,
): Resolution {
  const sources: Source[] = [];
  let files = 0;
  for (const reference of references) {
    const keys = keysOf(reference, lookup);
    if ("kind" in keys) return keys;
    const share = lookup.shares?.get(referenceKey(reference.object));
    const needsShare = lookup.shares !== undefined && share === undefined;
    // No Share is made for an optional object that does not exist.
    if (needsShare && keys.isMissing) continue;
    if (needsShare)
      return problem(
        reasons.bundleNotReady,
        `ClusterBundle "${bundle.candidate.name}" is not ready yet; retry`,
      );
    const source = sourceOf(reference, keys.keys, share);
    files += source.files.length;
    if (files > fileLimit) return { kind: "problem", problem: tooManyFiles };
    sources.push(source);
  }
  return { kind: "resolved", bundle: { ...bundle, sources } };
}

/** Of one bundle, or of all together. */
export const tooManyFiles: Problem = {
  reason: reasons.tooManyKeys,
  text: `the bundles of a pod may give it at most ${fileLimit} files; choose keys with items, or name fewer bundles`,
};

interface FoundKeys {
  readonly keys: readonly string[];
  readonly isMissing: boolean;
}

/** The keys of an object that can be mounted, or why it cannot. */
function keysOf({ object, items, isOptional }: Reference, { facts, call }: Lookup): FoundKeys | ProblemFound {
  const known = facts.keys.get(referenceKey(object)) ?? { kind: "unknown" };
  switch (known.kind) {
    case "unknown":
      return problem(reasons.bundleNotReady, `${call(object)} cannot be read at present; retry`);
    case "beyondLimit":
      return problem(
        reasons.tooManyReferences,
        `the bundles of a pod may refer to at most ${referenceLimit} objects; name fewer of them`,
      );
    case "tooManyKeys":
      return problem(reasons.tooManyKeys, `${call(object)} has more than ${objectKeyLimit} keys; split it`);
    case "forbidden":
      return problem(
        reasons.referenceForbidden,
        `the operator is not permitted to read ${call(object)}; grant it get`,
      );
    case "missing":
      if (isOptional) return { keys: [], isMissing: true };
      return problem(reasons.referenceNotFound, `${call(object)} not found; create it or make it optional`);
    case "keys": {
      const lacking = items?.find(({ key }) => !known.keys.includes(key))?.key;
      if (lacking === undefined || isOptional) return { keys: known.keys, isMissing: false };
      return problem(reasons.referenceNotFound, `${call(object)} has no key "${lacking}"`);
    }
    default:
      return unreachable(known);
  }
}

function sourceOf(reference: Reference, keys: readonly string[], share: string | undefined): Source {
  const { purpose, object, isOptional, items, prefix } = reference;
  const files = filesOf(reference, keys);
  const isRenamed = items !== undefined || prefix !== undefined;
  return { purpose, object, share, isOptional, items: isRenamed ? files : undefined, files };
}

interface ProblemFound {
  readonly kind: "problem";
  readonly problem: Problem;
}

function problem(reason: Problem["reason"], text: string): ProblemFound {
  return { kind: "problem", problem: { reason, text } };
}
