import { clusterBundle, type ClusterBundle } from "@quartermaster/api";
import { byOwner, type Context, isControlledBy, type Kind, type Live } from "@quartermaster/runtime";
import { type ClusterRole, clusterRoles } from "@quartermaster/runtime/kinds";

import { type Reference, referenceKey, referencesOf } from "../injection/injection-facts.ts";
import type { Account } from "../object-access/object-access.ts";
import { ownedAccesses, type OwnedAccesses } from "../object-access/perform-access.ts";
import type { AlwaysInjectPeers } from "../references/always-inject-peers.ts";
import type { Provider } from "../references/judge-keys.ts";
import { type KnownKeys, readKeys } from "../references/read-keys.ts";
import { type AggregationSettings, wantedRoles } from "./aggregation.ts";
import { type AuthorFacts, isPermitted, observeAuthor } from "./author.ts";
import { clusterRoleName } from "./desired-cluster-role.ts";
import { isDriverRegistered } from "./is-driver-registered.ts";
import { type KnownShare, type NamedReference, nameShares } from "./share-names.ts";
import {
  servedProfile,
  sharedObjectOf,
  shareKindOf,
  shareKinds,
  type ShareProfile,
} from "./share-profile.ts";

/** How the controller is set up. */
export interface ClusterBundleSettings extends AggregationSettings {
  /** Whether nothing is shared for a bundle whose author is not recorded (default: false). */
  readonly requireAuthor?: boolean | undefined;
  /** The webhook's service account, which gets a Role for the objects of each bundle (default: none gets one). */
  readonly webhookAccount?: Account | undefined;
  /** The CSI driver that has to be registered on a node (default: none has to be). */
  readonly driver?: string | undefined;
  /** Which API shares objects (default: whichever is served, the platform's before ours). */
  readonly profile?: ShareProfile | undefined;
}

/** A Share of the bundle, as it is. */
export interface LiveShare extends KnownShare {
  readonly kind: Kind;
  readonly uid: string;
  readonly resourceVersion: string;
  /** It is being deleted; a finalizer of another client may keep it. */
  readonly isDeleting: boolean;
}

/** Everything that the decision needs. */
export interface ClusterBundleSeen {
  readonly bundle: Live<ClusterBundle>;
  readonly keys: KnownKeys;
  /** Objects are read at intervals, because all watches are taken. */
  readonly isPolled: boolean;
  /** A node has the driver that mounts Shares. */
  readonly hasDriver: boolean;
  /** It has the always-inject label and comes after those that pods get. */
  readonly isSurplus: boolean;
  /** Bundles that are injected together with this one, itself included. */
  readonly peers: readonly Provider[];
  readonly author: AuthorFacts;
  readonly shares: SeenShares;
  readonly role: SeenRole;
  /** Roles and bindings of the bundle for our other accounts. */
  readonly accesses: OwnedAccesses;
}

export interface SeenShares {
  /** Undefined when no Share API is served. */
  readonly profile: ShareProfile | undefined;
  /** The API is served, but its objects are not known yet: absent and not seen yet must not be confused. */
  readonly isStarting: boolean;
  readonly wanted: readonly NamedReference[];
  /** Those that the bundle controls, of any profile. */
  readonly owned: readonly LiveShare[];
  /** Wanted names under which another client has an object. */
  readonly taken: ReadonlySet<string>;
}

export interface SeenRole {
  /** That of the bundle; undefined when there is none. */
  readonly live: Live<ClusterRole> | undefined;
  readonly isTaken: boolean;
  /** Whether ClusterRoles can be watched. */
  readonly isKnown: boolean;
  /** The roles to aggregate to, in order, with those that exist. */
  readonly roles: readonly string[];
  readonly targets: ReadonlyMap<string, ClusterRole | undefined>;
}

/** Dependencies of observing. */
interface ObserveOptions {
  readonly settings: ClusterBundleSettings;
  readonly peers: AlwaysInjectPeers<ClusterBundle>;
}

/** Reads everything, and follows what may change the decision. */
export async function observe(
  bundle: Live<ClusterBundle>,
  ctx: Context,
  { settings, peers }: ObserveOptions,
): Promise<ClusterBundleSeen> {
  const store = ctx.store(clusterBundle.kind);
  const others = peers.of(bundle, store);
  const author = await observeAuthor(bundle, ctx, settings.requireAuthor ?? false);
  const own = referencesOf(bundle).filter(({ object }) => isPermitted(author, object));
  const wanted = [...own, ...others.flatMap(({ references }) => references)];
  const { keys, isPolled } = await readKeys(wanted, ctx);
  return {
    bundle,
    keys,
    isPolled,
    hasDriver: await isDriverRegistered(settings.driver, ctx),
    isSurplus: peers.isSurplus(bundle, store),
    peers: others,
    author,
    accesses: ownedAccesses(bundle, ctx),
    shares: observeShares(bundle, ctx, settings.profile),
    role: observeRole(bundle, ctx, settings),
  };
}

/** Of another bundle only what it shares: its author may have named an object that they may not read. */
export function sharedReferences(bundle: ClusterBundle): readonly Reference[] {
  const shared = new Set((bundle.status?.shares ?? []).flatMap(({ ref }) => ref ?? []).map(referenceKey));
  return referencesOf(bundle).filter(({ object }) => shared.has(referenceKey(object)));
}

function observeShares(
  bundle: Live<ClusterBundle>,
  ctx: Context,
  configured: ShareProfile | undefined,
): SeenShares {
  const profile = servedProfile(configured, ctx);
  const owned = shareKinds.flatMap((kind) => ownedShares(kind, bundle, ctx));
  const wanted = nameShares(bundle.metadata.name, referencesOf(bundle), knownShares(bundle, owned));
  if (profile === undefined) return { profile, isStarting: false, wanted, owned, taken: new Set() };
  const kindOf = ({ reference }: NamedReference): Kind => shareKindOf(profile, reference.purpose);
  const isStarting = wanted.some((each) => !ctx.store(kindOf(each)).isSynced);
  const taken = wanted.filter((each) => {
    // Followed, so that the bundle comes back when the other object goes.
    const found = ctx.follow(kindOf(each), { name: each.shareName });
    return found !== undefined && !isControlledBy(found, bundle);
  });
  return { profile, isStarting, wanted, owned, taken: new Set(taken.map(({ shareName }) => shareName)) };
}

function ownedShares(kind: Kind, bundle: Live<ClusterBundle>, ctx: Context): readonly LiveShare[] {
  return ctx
    .store(kind)
    .listBy(byOwner, bundle.metadata.uid)
    .filter((each) => isControlledBy(each, bundle))
    .map((each) => {
      const { name, uid, resourceVersion } = each.metadata;
      const isDeleting = each.metadata.deletionTimestamp !== undefined;
      return { kind, name, uid, resourceVersion, isDeleting, object: sharedObjectOf(each) ?? unreadable };
    });
}

/** No reference means it, so such a Share is written again. */
const unreadable = { kind: "Secret", namespace: "", name: "" } as const;

/** The status says which reference has which name even if a Share was deleted or edited; without it, the Shares do. */
function knownShares({ status }: ClusterBundle, owned: readonly LiveShare[]): readonly KnownShare[] {
  const recorded = (status?.shares ?? []).flatMap(({ name, ref }) =>
    ref === undefined ? [] : [{ name, object: ref }],
  );
  return recorded.length > 0 ? recorded : owned;
}

function observeRole(bundle: Live<ClusterBundle>, ctx: Context, settings: ClusterBundleSettings): SeenRole {
  const live = ctx.follow(clusterRoles, { name: clusterRoleName(bundle.metadata.name) });
  const roles = wantedRoles(bundle.spec.aggregateToClusterRoles, settings);
  const targets = new Map(roles.map((name) => [name, ctx.follow(clusterRoles, { name })]));
  const isTaken = live !== undefined && !isControlledBy(live, bundle);
  return {
    live: isTaken ? undefined : live,
    isTaken,
    isKnown: ctx.store(clusterRoles).isSynced,
    roles,
    targets,
  };
}
