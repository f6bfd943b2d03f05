import type { ConditionUpdate, Why } from "@quartermaster/runtime";

import { abnormal, bundleReasons, conditionTypes, mostUrgent } from "../bundle-reasons.ts";
import { fileLimit, objectKeyLimit, type Reference, referenceKey } from "../injection/injection-facts.ts";
import { describeObject, type KnownKeys } from "./read-keys.ts";

/** The condition Invalid: whether every reference can be used. `problem` is undefined when all can. */
export function judgeReferences(
  references: readonly Reference[],
  keys: KnownKeys,
  { ownNamespace, ofAuthor, ofLimits }: JudgeOptions = {},
): { readonly problem: Why | undefined; readonly condition: ConditionUpdate } {
  if (ofLimits !== undefined)
    return { problem: ofLimits, condition: abnormal(conditionTypes.invalid, ofLimits, allFound) };
  const found = references.flatMap((reference) => problemOf(reference, keys, ownNamespace) ?? []);
  if (filesIn(references, keys) > fileLimit) found.push(tooManyFiles);
  const problem = mostUrgent(ofAuthor === undefined ? found : [ofAuthor, ...found], urgency);
  return { problem, condition: abnormal(conditionTypes.invalid, problem, allFound) };
}

export interface JudgeOptions {
  /** Of a Bundle, which may only name objects of its own namespace. */
  readonly ownNamespace?: string | undefined;
  /** The bundle is not served: its objects were not read. */
  readonly ofLimits?: Why | undefined;
  /** Permissions that the author of a ClusterBundle lacks. */
  readonly ofAuthor?: Why | undefined;
}

/** Whether a Bundle may read the object at all. Objects of other namespaces are refused without being read. */
export function isWithin({ object }: Reference, ownNamespace: string): boolean {
  return object.namespace === ownNamespace;
}

const urgency = [
  bundleReasons.authorUnknown,
  bundleReasons.authorForbidden,
  bundleReasons.crossNamespaceReference,
  bundleReasons.referenceForbidden,
  bundleReasons.tooManyKeys,
  bundleReasons.referenceNotFound,
];

const tooManyFiles: Why = {
  reason: bundleReasons.tooManyKeys,
  message: `The objects of the bundle have more than ${fileLimit} keys, which is more than a pod may get. Choose keys with items, or split the bundle.`,
};

function filesIn(references: readonly Reference[], keys: KnownKeys): number {
  return references.reduce((sum, { object, items }) => {
    const known = keys.get(referenceKey(object));
    return sum + (items?.length ?? (known?.kind === "keys" ? known.keys.length : 0));
  }, 0);
}

const allFound: Why = { reason: bundleReasons.referencesFound, message: "All referenced objects exist." };

function problemOf(reference: Reference, keys: KnownKeys, ownNamespace: string | undefined): Why | undefined {
  const object = describeObject(reference.object);
  if (ownNamespace !== undefined && !isWithin(reference, ownNamespace))
    return {
      reason: bundleReasons.crossNamespaceReference,
      message: `${object} is in another namespace. A Bundle refers to objects of its own namespace; use a ClusterBundle.`,
    };
  const known = keys.get(referenceKey(reference.object)) ?? { kind: "missing" };
  if (known.kind === "forbidden")
    return { reason: bundleReasons.referenceForbidden, message: grant(reference) };
  if (known.kind === "tooManyKeys")
    return {
      reason: bundleReasons.tooManyKeys,
      message: `${object} has more than ${objectKeyLimit} keys. Split it into several objects.`,
    };
  if (reference.isOptional) return undefined;
  if (known.kind !== "keys")
    return { reason: bundleReasons.referenceNotFound, message: `${object} does not exist.` };
  const present = new Set(known.keys);
  const missing = reference.items?.find(({ key }) => !present.has(key));
  if (missing === undefined) return undefined;
  return { reason: bundleReasons.referenceNotFound, message: `${object} has no key "${missing.key}".` };
}

function grant({ object: { kind, namespace, name } }: Reference): string {
  const resource = kind === "Secret" ? "secrets" : "configmaps";
  return `The operator may not watch ${kind} ${namespace}/${name}. Grant it list and watch on ${resource} with resourceNames [${name}] by a Role of namespace ${namespace}.`;
}
