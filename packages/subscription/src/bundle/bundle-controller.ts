import { bundle, type Bundle } from "@quartermaster/api";
import {
  type Context,
  type Controller,
  defineController,
  type Live,
  type Rule,
  settled,
  stalled,
  type Verdict,
  type Why,
} from "@quartermaster/runtime";
import { roleBindings, roles } from "@quartermaster/runtime/kinds";

import { conditionTypes } from "../bundle-reasons.ts";
import { labelledLimit } from "../injection/choose-bundles.ts";
import { type Reference, referencesOf } from "../injection/injection-facts.ts";
import { accessSources, type Account, webhookAccess } from "../object-access/object-access.ts";
import {
  type AccessAction,
  ownedAccesses,
  type OwnedAccesses,
  performAccess,
  planAccess,
} from "../object-access/perform-access.ts";
import { AlwaysInjectPeers } from "../references/always-inject-peers.ts";
import { type ConflictDecision, judgeKeys, type Provider } from "../references/judge-keys.ts";
import { isWithin, judgeReferences } from "../references/judge-references.ts";
import { type KnownKeys, pollMs, readKeys } from "../references/read-keys.ts";
import { beyondLimits, type SeenLimits, surplusOf } from "../references/within-limits.ts";

export interface BundleOptions {
  /** Only Bundles of this namespace (default: all). */
  readonly namespace?: string | undefined;
  /** Only Bundles with these labels (default: all). */
  readonly labelSelector?: string | undefined;
  /** Bundles worked on at the same time (default: 4). */
  readonly concurrency?: number | undefined;
  /** The webhook's service account, which gets a Role for the objects of each Bundle (default: none gets one). */
  readonly webhookAccount?: Account | undefined;
}

/** Everything that the decision needs. */
export interface BundleSeen {
  readonly bundle: Bundle;
  readonly keys: KnownKeys;
  /** Bundles of the namespace that are injected together with this one, itself included. */
  readonly peers: readonly Provider[];
  readonly limits: SeenLimits;
  /** Objects are read at intervals, because all watches are taken. */
  readonly isPolled: boolean;
  /** Roles and bindings of the Bundle for the webhook. */
  readonly accesses: OwnedAccesses;
}

/** Reports what is wrong with the references of each Bundle, and lets the webhook read the objects that it refers to. */
export function bundleController({
  namespace,
  labelSelector,
  concurrency = 4,
  webhookAccount,
}: BundleOptions = {}): Controller {
  const peers = new AlwaysInjectPeers<Bundle>({ referencesOf: readable });
  return defineController<Bundle, BundleSeen, AccessAction>(bundle.kind, {
    concurrency,
    namespace,
    labelSelector,
    owns: accessSources,
    worksWithout: [roles, roleBindings],
    watches: [peers.watch({ kind: bundle.kind, labelSelector })],
    followLimit,
    recipe: {
      conditionTypes: [conditionTypes.invalid, conditionTypes.keyConflict],
      observe: async (object, ctx) => await observe(object, ctx, peers),
      rules: bundleRules(webhookAccount),
      perform: performAccess,
    },
  });
}

/** Secrets and ConfigMaps that are followed by name, about 2 KB each. */
const followLimit = 2_000;

/** Reads everything, and follows what may change the decision. */
export async function observe(
  object: Live<Bundle>,
  ctx: Context,
  peers: AlwaysInjectPeers<Bundle>,
): Promise<BundleSeen> {
  const store = ctx.store(bundle.kind);
  const limits = { isBeyond: peers.isBeyondLimits(object, store), isSurplus: peers.isSurplus(object, store) };
  const accesses = ownedAccesses(object, ctx);
  if (limits.isBeyond)
    return { bundle: object, keys: new Map(), peers: [], accesses, limits, isPolled: false };
  const others = peers.of(object, store);
  const references = [...readable(object), ...others.flatMap((each) => each.references)];
  const { keys, isPolled } = await readKeys(references, ctx);
  return { bundle: object, keys, peers: others, accesses, limits, isPolled };
}

/** An object of another namespace is never read: its author could learn from our status what it contains. */
function readable(object: Bundle): readonly Reference[] {
  const { namespace = "" } = object.metadata;
  return referencesOf(object).filter((reference) => isWithin(reference, namespace));
}

/** State of a Bundle. */
export function bundleRules(webhookAccount?: Account): readonly Rule<BundleSeen, AccessAction>[] {
  return [{ name: "judge", decide: (seen) => judge(seen, webhookAccount) }];
}

function judge(seen: BundleSeen, webhookAccount: Account | undefined): Verdict<AccessAction> {
  const { bundle: object, keys, peers, accesses, limits, isPolled } = seen;
  const { name, namespace = "" } = object.metadata;
  const own = { name, references: readable(object) };
  const ofLimits = limits.isBeyond ? beyondLimits : undefined;
  const invalid = judgeReferences(referencesOf(object), keys, { ownNamespace: namespace, ofLimits });
  const conflict = judgeKeys({ kind: "Bundle", own, peers, keys });
  const problem = invalid.problem ?? stalling(conflict, limits);
  const objects = limits.isBeyond ? [] : own.references.map((each) => each.object);
  const wanted = webhookAccess({ kind: "Bundle", name }, objects, webhookAccount);
  // Whether there is room again, and what is read at intervals, nothing announces.
  const recheckMs = isPolled || limits.isBeyond ? pollMs : undefined;
  return {
    actions: [],
    lanes: [{ name: "access", actions: planAccess(wanted, accesses), outcome: settled() }],
    outcome: problem === undefined ? settled(recheckMs) : stalled(problem, recheckMs),
    conditions: [invalid.condition, conflict.condition],
  };
}

/** Reasons why all pods, or those that name none, do not get the Bundle. */
function stalling(conflict: ConflictDecision, { isSurplus }: SeenLimits): Why | undefined {
  if (conflict.isWithinBundle) return conflict.problem;
  return isSurplus ? surplusOf("Bundle", labelledLimit) : undefined;
}
