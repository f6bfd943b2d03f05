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
} from "@quartermaster/runtime";

import { conditionTypes } from "../bundle-reasons.ts";
import { type Reference, referencesOf } from "../injection/injection-facts.ts";
import { type Account, accessSources, webhookAccess } from "../object-access/object-access.ts";
import {
  type AccessAction,
  type OwnedAccesses,
  ownedAccesses,
  performAccess,
  planAccess,
} from "../object-access/perform-access.ts";
import { AlwaysInjectPeers } from "../references/always-inject-peers.ts";
import { judgeKeys, type Provider } from "../references/judge-keys.ts";
import { isWithin, judgeReferences } from "../references/judge-references.ts";
import type { KnownKeys } from "../references/known-keys.ts";
import { readKeys } from "../references/read-keys.ts";

/** What the controller of Bundles needs. */
export interface BundleOptions {
  /** Only Bundles of this namespace (default: all). */
  readonly namespace?: string;
  /** Bundles worked on at the same time (default: 4). */
  readonly concurrency?: number;
  /** The webhook's service account, which gets a Role for the objects of each Bundle (default: none gets one). */
  readonly webhookAccount?: Account | undefined;
}

/** Everything that the decision needs. */
export interface BundleSeen {
  readonly bundle: Bundle;
  readonly keys: KnownKeys;
  /** Other Bundles of the namespace that are injected together with this one. */
  readonly peers: readonly Provider[];
  /** Roles and bindings of the Bundle for the webhook. */
  readonly accesses: OwnedAccesses;
}

/** Reports what is wrong with the references of each Bundle, and lets the webhook read the objects that it refers to. */
export function bundleController({
  namespace,
  concurrency = 4,
  webhookAccount,
}: BundleOptions = {}): Controller {
  const peers = new AlwaysInjectPeers();
  return defineController<Bundle, BundleSeen, AccessAction>(bundle.kind, {
    concurrency,
    ...(namespace === undefined ? {} : { namespace }),
    owns: accessSources,
    watches: [peers.watch(bundle.kind)],
    followLimit,
    recipe: {
      conditionTypes: [conditionTypes.invalid, conditionTypes.keyConflict],
      observe: async (object, ctx) => await Promise.resolve(observe(object, ctx, peers)),
      rules: bundleRules(webhookAccount),
      perform: performAccess,
    },
  });
}

/** Secrets and ConfigMaps that are followed by name, about 2 KB each. */
const followLimit = 2_000;

function observe(object: Live<Bundle>, ctx: Context, peers: AlwaysInjectPeers): BundleSeen {
  const others = peers
    .of(object, ctx.store(bundle.kind))
    .map((each) => ({ name: each.metadata.name, references: readable(each) }));
  const references = [...readable(object), ...others.flatMap((each) => each.references)];
  const keys = readKeys(references, ctx);
  return { bundle: object, keys, peers: others, accesses: ownedAccesses(object, ctx) };
}

/** An object of another namespace is never read: its author could learn from our status what it contains. */
function readable(object: Bundle): readonly Reference[] {
  const { namespace = "" } = object.metadata;
  return referencesOf(object).filter((reference) => isWithin(reference, namespace));
}

/** State of a Bundle. */
export function bundleRules(webhookAccount?: Account): readonly Rule<BundleSeen, AccessAction>[] {
  return [{ name: "judge", answer: (seen) => judge(seen, webhookAccount) }];
}

function judge(
  { bundle: object, keys, peers, accesses }: BundleSeen,
  webhookAccount: Account | undefined,
): Verdict<AccessAction> {
  const { name, namespace = "" } = object.metadata;
  const invalid = judgeReferences(referencesOf(object), keys, { ownNamespace: namespace });
  const own = { name, references: readable(object) };
  const conflict = judgeKeys({ kind: "Bundle", own, peers, keys });
  const problem = invalid.problem ?? (conflict.isWithinBundle ? conflict.problem : undefined);
  const wanted = webhookAccess(
    { kind: "Bundle", name },
    own.references.map((each) => each.object),
    webhookAccount,
  );
  return {
    actions: [],
    lanes: [{ name: "access", actions: planAccess(wanted, accesses), outcome: settled() }],
    outcome: problem === undefined ? settled() : stalled(problem),
    conditions: [invalid.condition, conflict.condition],
  };
}
