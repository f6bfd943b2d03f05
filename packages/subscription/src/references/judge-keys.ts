import { canonicalJson, type ConditionUpdate, type Why } from "@quartermaster/runtime";

import { abnormal, bundleReasons, conditionTypes } from "../bundle-reasons.ts";
import {
  fileLimit,
  filesOf,
  type Purpose,
  type Reference,
  referenceKey,
} from "../injection/injection-facts.ts";
import type { KnownKeys } from "./read-keys.ts";

/** A bundle with what it would put into a pod. */
export interface Provider {
  readonly name: string;
  readonly references: readonly Reference[];
}

/** Input of the comparison: a bundle, and those that are injected together with it without being named. */
export interface ConflictQuery {
  readonly kind: "Bundle" | "ClusterBundle";
  readonly own: Provider;
  /** All bundles with the always-inject label that pods get, if this one is among them. */
  readonly peers: readonly Provider[];
  readonly keys: KnownKeys;
}

/** How keys of a bundle overlap. */
export interface ConflictDecision {
  /** The bundle overlaps with itself: no pod can use it. */
  readonly isWithinBundle: boolean;
  readonly problem: Why | undefined;
  readonly condition: ConditionUpdate;
}

/**
 * The condition KeyConflict: whether two objects would give files of the same name. The kubelet does not notice; the later object
 * silently wins. The same object in two bundles is one source and no conflict.
 */
export function judgeKeys({ kind, own, peers, keys }: ConflictQuery): ConflictDecision {
  const first = conflictWithin(own, keys) ?? conflictsAmong(peers, keys).get(own.name);
  const problem = first === undefined ? undefined : whyOf(kind, own.name, first);
  return {
    isWithinBundle: first !== undefined && first.other === own.name,
    problem,
    condition: abnormal(conditionTypes.keyConflict, problem, noConflict),
  };
}

interface Conflict {
  readonly purpose: Purpose;
  readonly path: string;
  readonly other: string;
}

interface Source {
  readonly identity: string;
  readonly purpose: Purpose;
  readonly paths: readonly string[];
}

function conflictWithin(own: Provider, keys: KnownKeys): Conflict | undefined {
  const seen = new Map<string, string>();
  let first: Conflict | undefined;
  for (const { identity, purpose, paths } of sourcesOf(own, keys))
    for (const path of paths) {
      const file = `${purpose}/${path}`;
      const before = seen.get(file);
      if (before === undefined) seen.set(file, identity);
      else if (before !== identity) first = moreUrgent(first, { purpose, path, other: own.name });
    }
  return first;
}

/** One file of several bundles. */
interface Entry {
  readonly bundle: string;
  readonly identity: string;
}

/**
 * The first conflict of each bundle with another one: all of them by one index of files. Kept for the list of bundles until a key changes,
 * because each bundle of the list needs it after every edit.
 */
function conflictsAmong(providers: readonly Provider[], keys: KnownKeys): ReadonlyMap<string, Conflict> {
  const known = results.get(providers);
  const used = providers.flatMap(({ references }) =>
    references.map(({ object }) => namesIn(keys, referenceKey(object))),
  );
  if (known?.used.every((names, at) => names === used[at]) === true) return known.conflicts;
  const conflicts = new Map<string, Conflict>();
  for (const [{ purpose, path }, entries] of sharedFiles(providers, keys))
    for (const { bundle, identity } of entries) {
      const other = entries.find((each) => each.bundle !== bundle && each.identity !== identity)?.bundle;
      if (other === undefined) continue;
      const first = moreUrgent(conflicts.get(bundle), { purpose, path, other });
      conflicts.set(bundle, first);
    }
  results.set(providers, { used, conflicts });
  return conflicts;
}

interface Result {
  /** Names of keys, by identity: what is stored of an object is replaced as a whole. */
  readonly used: readonly (readonly string[] | undefined)[];
  readonly conflicts: ReadonlyMap<string, Conflict>;
}

const results = new WeakMap<readonly Provider[], Result>();

function sharedFiles(
  providers: readonly Provider[],
  keys: KnownKeys,
): Iterable<readonly [Pick<Conflict, "purpose" | "path">, readonly Entry[]]> {
  const firsts = new Map<string, Entry>();
  const shared = new Map<string, readonly [Pick<Conflict, "purpose" | "path">, Entry[]]>();
  const add = (bundle: string, { identity, purpose }: Source, path: string): void => {
    const file = `${purpose}/${path}`;
    const entry = { bundle, identity };
    const first = firsts.get(file);
    const entries = shared.get(file)?.[1];
    if (first === undefined) firsts.set(file, entry);
    else if (entries === undefined) shared.set(file, [{ purpose, path }, [first, entry]]);
    else entries.push(entry);
  };
  for (const provider of providers)
    for (const source of sourcesOf(provider, keys))
      for (const path of source.paths) add(provider.name, source, path);
  return shared.values();
}

/** Nothing of a bundle that gives more files than a pod may get: it is not injected at all. */
function sourcesOf({ references }: Provider, keys: KnownKeys): readonly Source[] {
  let count = 0;
  const sources: Source[] = [];
  for (const reference of references) {
    const { purpose, object, items, prefix } = reference;
    const key = referenceKey(object);
    const files = filesOf(reference, namesIn(keys, key) ?? []);
    count += files.length;
    if (count > fileLimit) return [];
    const identity = canonicalJson([purpose, key, items ?? null, prefix ?? null]);
    sources.push({ identity, purpose, paths: files.map(({ path }) => path) });
  }
  return sources;
}

function namesIn(keys: KnownKeys, key: string): readonly string[] | undefined {
  const known = keys.get(key);
  return known?.kind === "keys" ? known.keys : undefined;
}

/** By name: the message stays the same on every retry. */
function moreUrgent(one: Conflict | undefined, other: Conflict): Conflict {
  if (one === undefined) return other;
  const order =
    compareTexts(one.other, other.other) ||
    compareTexts(one.purpose, other.purpose) ||
    compareTexts(one.path, other.path);
  return order <= 0 ? one : other;
}

/** The same order on every machine. */
export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

const noConflict: Why = {
  reason: bundleReasons.noKeyConflict,
  message: "No two referenced objects have a key in common.",
};

/** Names the key and the bundles, never an object: not every reader of one bundle may read the other. */
function whyOf(kind: ConflictQuery["kind"], own: string, { purpose, path, other }: Conflict): Why {
  const reason =
    purpose === "entitlement" ? bundleReasons.entitlementKeyConflict : bundleReasons.repositoryKeyConflict;
  if (other === own)
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
