import { clusterBundle, type ClusterBundle } from "@quartermaster/api";
import { type Controller, defineController } from "@quartermaster/runtime";
import { clusterRoles, roleBindings, roles } from "@quartermaster/runtime/kinds";

import { conditionTypes } from "../bundle-reasons.ts";
import { accessSources } from "../object-access/object-access.ts";
import { AlwaysInjectPeers } from "../references/always-inject-peers.ts";
import { roleSource } from "./desired-cluster-role.ts";
import { waitingForDriver } from "./is-driver-registered.ts";
import { type ClusterBundleSeen, type ClusterBundleSettings, observe, sharedReferences } from "./observe.ts";
import { perform } from "./perform.ts";
import { type ClusterBundleAction, clusterBundleRules } from "./rules.ts";
import { shareSources } from "./share-profile.ts";

export interface ClusterBundleOptions extends ClusterBundleSettings {
  /** Bundles worked on at the same time (default: 4). */
  readonly concurrency?: number | undefined;
  /** Only ClusterBundles with these labels (default: all). */
  readonly labelSelector?: string | undefined;
}

/**
 * Keeps the Shares and the ClusterRole of each ClusterBundle, and reports what is wrong with its references. What it makes goes
 * with the bundle by owner references; there is no finalizer.
 */
export function clusterBundleController({
  concurrency = 4,
  labelSelector,
  ...settings
}: ClusterBundleOptions): Controller {
  const peers = new AlwaysInjectPeers<ClusterBundle>({ referencesOf: sharedReferences });
  return defineController<ClusterBundle, ClusterBundleSeen, ClusterBundleAction>(clusterBundle.kind, {
    concurrency,
    labelSelector,
    owns: [...shareSources, roleSource, ...accessSources],
    reads: [...shareSources, roleSource],
    watches: [peers.watch({ kind: clusterBundle.kind, labelSelector })],
    followLimit,
    tracks: waitingForDriver,
    worksWithout: [clusterRoles, roles, roleBindings],
    recipe: {
      conditionTypes: Object.values(conditionTypes),
      observe: async (bundle, ctx) => await observe(bundle, ctx, { settings, peers }),
      rules: clusterBundleRules(settings),
      perform,
    },
  });
}

/** Secrets and ConfigMaps that are followed by name, about 2 KB each. */
const followLimit = 2_000;
