import {
  type ConditionUpdate,
  type Desired,
  type Kind,
  type KubeObject,
  type Lane,
  type Outcome,
  type Rule,
  settled,
  stalled,
  type Verdict,
  waiting,
  type Why,
} from "@quartermaster/runtime";
import type { ClusterRole } from "@quartermaster/runtime/kinds";

import { abnormal, bundleReasons, conditionTypes } from "../bundle-reasons.ts";
import { labelledLimit } from "../injection/choose-bundles.ts";
import { referenceKey, referencesOf } from "../injection/injection-facts.ts";
import { driverAccess, type ObjectAccess, webhookAccess } from "../object-access/object-access.ts";
import { type AccessAction, planAccess } from "../object-access/perform-access.ts";
import { judgeKeys } from "../references/judge-keys.ts";
import { judgeReferences } from "../references/judge-references.ts";
import { pollMs } from "../references/read-keys.ts";
import { surplusOf } from "../references/within-limits.ts";
import { aggregate } from "./aggregation.ts";
import { authorProblem, isPermitted } from "./author.ts";
import { clusterRoleName, desiredClusterRole, foreignParts, isOverridden } from "./desired-cluster-role.ts";
import { driverMissing } from "./is-driver-registered.ts";
import type { ClusterBundleSeen, ClusterBundleSettings, LiveShare } from "./observe.ts";
import type { NamedReference } from "./share-names.ts";
import {
  describeShare,
  desiredShare,
  shareApiVersion,
  shareKindOf,
  type ShareProfile,
} from "./share-profile.ts";

/** One write. */
export type ClusterBundleAction =
  | { readonly kind: "applyShare"; readonly share: Kind; readonly desired: Desired<KubeObject> }
  | { readonly kind: "deleteShare"; readonly share: LiveShare }
  | { readonly kind: "applyRole"; readonly desired: Desired<ClusterRole> }
  | AccessAction
  /** Removes what others added to our ClusterRole. */
  | { readonly kind: "cutRole"; readonly name: string; readonly body: object };

/** Rules of a ClusterBundle: the first rule that matches decides. */
export function clusterBundleRules(
  settings: RuleSettings,
): readonly Rule<ClusterBundleSeen, ClusterBundleAction>[] {
  return [
    { name: "permissionsMissing", decide: permissionsMissing },
    { name: "shareApiStarting", decide: shareApiStarting },
    { name: "share", decide: (seen) => shareObjects(seen, settings) },
  ];
}

type RuleSettings = Pick<ClusterBundleSettings, "allowedClusterRoles" | "webhookAccount" | "driver">;

/** Without ClusterRoles the bundle cannot be used by any pod, and a foreign one would seem absent. */
function permissionsMissing({ role }: ClusterBundleSeen): Verdict<never> | undefined {
  if (role.isKnown) return undefined;
  const message =
    "The operator may not watch and write ClusterRoles, by which pods get the permission to use the bundle. Apply config/rbac-limited/optional/subscription.yaml.";
  const why = { reason: bundleReasons.grantForbidden, message };
  return {
    actions: [],
    outcome: stalled(why, pollMs),
    conditions: [abnormal(conditionTypes.shareSyncFailed, why, allShared)],
  };
}

/** The watch of a new Share API opens immediately. Until then a foreign Share would seem absent. */
function shareApiStarting({ shares }: ClusterBundleSeen): Verdict<never> | undefined {
  if (!shares.isStarting) return undefined;
  const message = "The Share API is served, but its objects are not known yet.";
  return { actions: [], outcome: waiting({ reason: bundleReasons.shareApiStarting, message }, 1_000) };
}

function shareObjects(
  seen: ClusterBundleSeen,
  { allowedClusterRoles, webhookAccount, driver }: RuleSettings,
): Verdict<ClusterBundleAction> {
  const { bundle, keys, peers, role, author } = seen;
  const { name } = bundle.metadata;
  const all = referencesOf(bundle);
  const references = all.filter(({ object }) => isPermitted(author, object));
  const ofAuthor = authorProblem(
    author,
    all.map(({ object }) => object),
  );
  const invalid = judgeReferences(references, keys, { ofAuthor });
  const conflict = judgeKeys({ kind: "ClusterBundle", own: { name, references }, peers, keys });
  const { labels, condition: aggregation } = aggregate(role.roles, allowedClusterRoles, role.targets);
  const plan = planShares(seen);
  const unavailable = driverProblem(seen, driver);
  const failed = takenNames(seen) ?? overriddenRole(seen);
  const conditions: readonly ConditionUpdate[] = [
    invalid.condition,
    conflict.condition,
    abnormal(conditionTypes.shareSyncFailed, failed, allShared),
    aggregation,
    abnormal(conditionTypes.driverUnavailable, unavailable, shareApiServed),
  ];
  const ownConflict = conflict.isWithinBundle ? conflict.problem : undefined;
  const surplus = seen.isSurplus ? surplusOf("ClusterBundle", labelledLimit) : undefined;
  const outcome = outcomeOf(invalid.problem ?? unavailable ?? failed ?? ownConflict ?? surplus, seen);
  const objects = references.map(({ object }) => object);
  const ofWebhook = webhookAccess({ kind: "ClusterBundle", name }, objects, webhookAccount);
  const shareLane: Lane<ClusterBundleAction> = {
    name: "shares",
    actions: [...plan.actions, ...roleActions(seen, plan.kept, labels)],
    outcome: settled(),
    // Only once they are written: the webhook mounts what the status says.
    status: {
      ...(role.isTaken ? {} : { clusterRole: clusterRoleName(name) }),
      shares: plan.kept.map(({ kind, shareName, reference: { object } }) => ({
        name: shareName,
        kind: kind.kind,
        apiVersion: shareApiVersion(kind),
        ref: { kind: object.kind, name: object.name, namespace: object.namespace },
      })),
    },
  };
  const access = planAccess([...plan.accesses, ...ofWebhook], seen.accesses);
  const accessLane = { name: "access", actions: access, outcome: settled() };
  return { actions: [], outcome, conditions, lanes: [shareLane, accessLane] };
}

/**
 * Everything that can help is watched: references, Shares, roles, definitions, drivers that are registered. Permissions of the author, drivers that
 * go and polled objects are not.
 */
function outcomeOf(problem: Why | undefined, { isPolled }: Pick<ClusterBundleSeen, "isPolled">): Outcome {
  const recheckMs = isPolled ? pollMs : reviewAgainMs;
  return problem === undefined ? settled(recheckMs) : stalled(problem, recheckMs);
}

/** An author who lost a permission must not continue handing out what it was for. */
const reviewAgainMs = 300_000;

interface KeptShare extends NamedReference {
  readonly kind: Kind;
}

interface SharePlan {
  /** Those that exist after the actions. */
  readonly kept: readonly KeptShare[];
  readonly actions: readonly ClusterBundleAction[];
  /** Access of the share driver: follows from what the bundle refers to, never from what a Share says. */
  readonly accesses: readonly ObjectAccess[];
}

/** Without a Share API nothing is decided about Shares: an API that comes back must find them. */
function planShares({
  keys,
  author,
  shares: { profile, wanted, owned, taken },
}: ClusterBundleSeen): SharePlan {
  if (profile === undefined) return { kept: [], actions: [], accesses: [] };
  const kept = wanted
    .filter(({ reference }) => isPermitted(author, reference.object))
    .map((each) => ({ ...each, kind: shareKindOf(profile, each.reference.purpose) }))
    .filter((each) => !taken.has(each.shareName))
    .filter(
      (each) =>
        keys.get(referenceKey(each.reference.object))?.kind === "keys" ||
        owned.some((share) => isFor(share, each)),
    );
  const obsolete = owned.filter((share) => !kept.some((each) => isNamed(share, each)));
  return {
    kept,
    actions: [
      ...obsolete.map((share) => ({ kind: "deleteShare" as const, share })),
      ...kept.map((each) => applyShare(each, profile)),
    ],
    accesses: kept
      .filter(
        (each) => profile === "seed" && !owned.some((share) => share.isDeleting && isNamed(share, each)),
      )
      .map(({ shareName, reference }) => driverAccess(shareName, reference.object)),
  };
}

function applyShare({ kind, shareName, reference }: KeptShare, profile: ShareProfile): ClusterBundleAction {
  return { kind: "applyShare", share: kind, desired: desiredShare(shareName, reference.object, profile) };
}

/**
 * A Share of an object that is missing just now stays: the object is probably being replaced, and running pods mount the Share.
 * A Share that is to become one of a missing object goes: no one wants what it gives access to.
 */
function isFor(share: LiveShare, wanted: KeptShare): boolean {
  return isNamed(share, wanted) && referenceKey(share.object) === referenceKey(wanted.reference.object);
}

function isNamed({ kind, name }: LiveShare, wanted: KeptShare): boolean {
  return name === wanted.shareName && kind.plural === wanted.kind.plural && kind.group === wanted.kind.group;
}

/** Another client's object under our name is neither written nor granted. */
function takenNames({
  bundle,
  shares: { profile, wanted, taken },
  role,
}: ClusterBundleSeen): Why | undefined {
  const names = wanted
    .filter(({ shareName }) => taken.has(shareName))
    .map(({ shareName, reference: { purpose } }) =>
      describeShare(shareKindOf(profile ?? "seed", purpose), shareName),
    );
  if (role.isTaken) names.push(`ClusterRole "${clusterRoleName(bundle.metadata.name)}"`);
  if (names.length === 0) return undefined;
  const verb = names.length === 1 ? "exists and does" : "exist and do";
  return {
    reason: bundleReasons.nameTaken,
    message: `${names.toSorted().join(", ")} ${verb} not belong to this bundle. Delete it, or rename the bundle.`,
  };
}

function overriddenRole({ bundle, role: { live } }: ClusterBundleSeen): Why | undefined {
  if (!isOverridden(live)) return undefined;
  const name = clusterRoleName(bundle.metadata.name);
  return {
    reason: bundleReasons.roleOverridden,
    message: `ClusterRole "${name}" was given an aggregation rule, which the operator may not remove. Delete the ClusterRole; it is made again.`,
  };
}

function roleActions(
  { bundle, role: { live, isTaken } }: ClusterBundleSeen,
  kept: readonly KeptShare[],
  labels: Readonly<Record<string, string>>,
): readonly ClusterBundleAction[] {
  if (isTaken || isOverridden(live)) return [];
  const shares = kept.map(({ kind, shareName }) => ({ kind, name: shareName }));
  const desired = desiredClusterRole(bundle.metadata.name, shares, labels);
  const body = live === undefined ? undefined : foreignParts(live, desired);
  const cut = body === undefined ? [] : [{ kind: "cutRole" as const, name: desired.metadata.name, body }];
  return [...cut, { kind: "applyRole", desired }];
}

function driverProblem(
  { shares, hasDriver }: Pick<ClusterBundleSeen, "shares" | "hasDriver">,
  driver: string | undefined,
): Why | undefined {
  if (shares.profile === undefined) return noShareApi;
  return hasDriver || driver === undefined ? undefined : driverMissing(driver);
}

const noShareApi: Why = {
  reason: bundleReasons.shareApiNotServed,
  message:
    "The cluster serves no Share API. Install the share driver; until then pods that name the bundle are rejected.",
};
const shareApiServed: Why = {
  reason: bundleReasons.shareApiServed,
  message: "The cluster serves the Share API, and its driver is registered.",
};
const allShared: Why = {
  reason: bundleReasons.shared,
  message: "Shares and ClusterRole belong to this bundle.",
};
