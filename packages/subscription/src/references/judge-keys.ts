import { canonicalJson, type ConditionUpdate, type Why } from "@quartermaster/runtime";

import { abnormal, bundleReasons, conditionTypes } from "../bundle-reasons.ts";
import { filesOf, type Purpose, type Reference, referenceKey } from "../injection/injection-facts.ts";
import type { KnownKeys } from "./known-keys.ts";

/** A bundle with what it would put into a pod. */
export interface Provider {
  readonly name: string;
  readonly references: readonly Reference[];
}

/** What is compared: a bundle, and those that are injected together with it without being named. */
export interface ConflictQuestion {
  readonly kind: "Bundle" | "ClusterBundle";
  readonly own: Provider;
  /** Other bundles with the always-inject label, if this one has it too. */
  readonly peers: readonly Provider[];
  readonly keys: KnownKeys;
}

/** How keys of a bundle overlap. */
export interface ConflictAnswer {
  /** The bundle overlaps with itself: no pod can use it. */
  readonly isWithinBundle: boolean;
  readonly problem: Why | undefined;
  readonly condition: ConditionUpdate;
}

/**
 * The condition KeyConflict: whether two objects would give files of the same name. The kubelet does not notice; the later object
 * silently wins. The same object in two bundles is one source and no conflict.
 */
export function judgeKeys({ kind, own, peers, keys }: ConflictQuestion): ConflictAnswer {
  const conflicts = conflictsOf(own, peers, keys);
  const [first] = conflicts.toSorted(byUrgency);
  const problem = first === undefined ? undefined : whyOf(kind, own.name, first);
  return {
    isWithinBundle: first !== undefined && first.other === own.name,
    problem,
    condition: abnormal(conditionTypes.keyConflict, problem, noConflict),
  };
}

interface Source {
  readonly bundle: string;
  readonly identity: string;
  readonly purpose: Purpose;
  readonly paths: readonly string[];
}

interface Conflict {
  readonly purpose: Purpose;
  readonly path: string;
  readonly other: string;
  readonly isWithin: boolean;
}

function conflictsOf(own: Provider, peers: readonly Provider[], keys: KnownKeys): readonly Conflict[] {
  const ownSources = sourcesOf(own, keys);
  const others = peers.flatMap((peer) => sourcesOf(peer, keys));
  const conflicts: Conflict[] = [];
  const seen = new Map<string, string>();
  for (const { identity, purpose, paths } of ownSources)
    for (const path of paths) {
      const file = `${purpose}/${path}`;
      const before = seen.get(file);
      if (before === undefined) seen.set(file, identity);
      else if (before !== identity) conflicts.push({ purpose, path, other: own.name, isWithin: true });
    }
  for (const { bundle, identity, purpose, paths } of others)
    for (const path of paths) {
      const mine = seen.get(`${purpose}/${path}`);
      if (mine !== undefined && mine !== identity)
        conflicts.push({ purpose, path, other: bundle, isWithin: false });
    }
  return conflicts;
}

function sourcesOf({ name, references }: Provider, keys: KnownKeys): readonly Source[] {
  return references.map((reference) => {
    const { purpose, object, items, prefix } = reference;
    const known = keys.get(referenceKey(object));
    const files = filesOf(reference, known?.kind === "keys" ? known.keys : []);
    const paths = files.map(({ path }) => path);
    const identity = canonicalJson([purpose, referenceKey(object), items ?? null, prefix ?? null]);
    return { bundle: name, identity, purpose, paths };
  });
}

/** A conflict of the bundle with itself first, then by name: the message stays the same on every retry. */
function byUrgency(one: Conflict, other: Conflict): number {
  if (one.isWithin !== other.isWithin) return one.isWithin ? -1 : 1;
  return compareTexts(
    `${one.other}/${one.purpose}/${one.path}`,
    `${other.other}/${other.purpose}/${other.path}`,
  );
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

const noConflict: Why = {
  reason: bundleReasons.noKeyConflict,
  message: "No two referenced objects have a key in common.",
};

/** Names the key and the bundles, never an object: not everybody who reads one bundle may read the other. */
function whyOf(
  kind: ConflictQuestion["kind"],
  own: string,
  { purpose, path, other, isWithin }: Conflict,
): Why {
  const reason =
    purpose === "entitlement" ? bundleReasons.entitlementKeyConflict : bundleReasons.repositoryKeyConflict;
  if (isWithin)
    return {
      reason,
      message: `Key "${path}" is in two objects of ${kind} "${own}". Give one of them items or a prefix.`,
    };
  const [one = own, two = other] = [own, other].toSorted();
  return {
    reason,
    message: `Key "${path}" is in ${kind}s "${one}" and "${two}", which are injected together: pods that name neither get at most one of them. Give one of them items or a prefix, or remove its always-inject label.`,
  };
}
