import { bundle, clusterBundle, share, SUBSCRIPTION_GROUP } from "@quartermaster/api";
import type { Controller, DomainPermission } from "@quartermaster/runtime";

import { bundleController } from "./bundle/bundle-controller.ts";
import { clusterBundleController } from "./cluster-bundle/cluster-bundle-controller.ts";
import { sharedConfigMaps, sharedSecrets, type ShareProfile } from "./cluster-bundle/share-profile.ts";
import { consoleSampleController, consoleYamlSamples } from "./console-samples/console-sample-controller.ts";
import type { Account } from "./object-access/object-access.ts";

/** How the controllers of bundles run. */
export interface BundleControllersOptions {
  /** Only Bundles of this namespace (default: all); ClusterBundles then belong to another operator, unless they are selected. */
  readonly namespace?: string | undefined;
  /** Only ClusterBundles with these labels, e.g. `shard=1` (default: all). */
  readonly clusterBundleSelector?: string | undefined;
  /** Only Bundles with these labels (default: all). */
  readonly bundleSelector?: string | undefined;
  /** Bundles that each controller works on at the same time (default: 4). */
  readonly concurrency?: number | undefined;
  /** Which API shares objects (default: whichever is served, the platform's before ours). */
  readonly profile?: ShareProfile | undefined;
  /** ClusterRoles that ClusterBundles may name (default: admin, edit and view). */
  readonly allowedClusterRoles?: readonly string[] | undefined;
  /** ClusterRoles of ClusterBundles that name none (default: none). */
  readonly defaultClusterRoles?: readonly string[] | undefined;
  /** The CSI driver without which ClusterBundles are not ready (default: none). */
  readonly driver?: string | undefined;
  /** Whether ClusterBundles without a recorded author share nothing (default: false). */
  readonly requireAuthor?: boolean | undefined;
  /** The webhook's service account, which gets a Role for the objects of each bundle (default: none gets one). */
  readonly webhookAccount?: Account | undefined;
}

/**
 * The controllers of Bundles and ClusterBundles, and the one that keeps their samples in the console of OpenShift.
 *
 * @example
 * createManager({ transport, system, controllers: bundleControllers({ defaultClusterRoles: ["edit"] }) });
 */
export function bundleControllers(options: BundleControllersOptions = {}): readonly Controller[] {
  const { namespace, concurrency = 4, clusterBundleSelector, webhookAccount, bundleSelector } = options;
  const ofBundles = bundleController({
    concurrency,
    webhookAccount,
    namespace,
    labelSelector: bundleSelector,
  });
  if (namespace !== undefined && clusterBundleSelector === undefined) return [ofBundles];
  return [ofBundles, clusterBundles(options), consoleSampleController()];
}

function clusterBundles({
  concurrency = 4,
  profile,
  allowedClusterRoles = ["admin", "edit", "view"],
  defaultClusterRoles = [],
  clusterBundleSelector: labelSelector,
  requireAuthor,
  webhookAccount,
  driver,
}: BundleControllersOptions): Controller {
  return clusterBundleController({
    concurrency,
    allowedClusterRoles,
    defaultClusterRoles,
    requireAuthor,
    webhookAccount,
    driver,
    profile,
    labelSelector,
  });
}

const bundles = [bundle.kind.plural, clusterBundle.kind.plural];
const sharedGroup = sharedSecrets.group;
const sharedPlurals = [sharedSecrets.plural, sharedConfigMaps.plural];

/** Permissions of these controllers with the operator's identity. */
export const bundlePermissions: readonly DomainPermission[] = [
  {
    reason: "Bundles: what is shared, and whether one is injected without being named.",
    apiGroups: [SUBSCRIPTION_GROUP],
    resources: bundles,
    verbs: ["get", "list", "watch"],
  },
  {
    reason: "Status of bundles.",
    apiGroups: [SUBSCRIPTION_GROUP],
    resources: bundles.map((plural) => `${plural}/status`),
    verbs: ["patch"],
  },
  {
    reason:
      "By this verb, in the whole cluster, config/policy/subscription-status.yaml recognizes who may write the status of bundles.",
    apiGroups: [SUBSCRIPTION_GROUP],
    resources: [clusterBundle.kind.plural],
    verbs: ["operate"],
  },
  {
    reason: "Some clusters require this to set owner references: on Shares, ClusterRoles and samples.",
    apiGroups: [SUBSCRIPTION_GROUP, "apiextensions.k8s.io"],
    resources: ["bundles/finalizers", "clusterbundles/finalizers", "customresourcedefinitions/finalizers"],
    verbs: ["update"],
  },
  {
    reason: "Whether ConfigMaps of bundles exist, and their keys. Watched by name; values are dropped.",
    apiGroups: [""],
    resources: ["configmaps"],
    verbs: ["get", "list", "watch"],
  },
  {
    isOptional: true,
    reason: "The same of Secrets. Or grant it by name: a bundle that lacks it names the Role that it needs.",
    apiGroups: [""],
    resources: ["secrets"],
    verbs: ["get", "list", "watch"],
  },
  {
    isOptional: true,
    reason:
      "Roles by name: the object of each Share for the share driver, the objects of each bundle for the webhook. Only who may read them may grant it.",
    apiGroups: ["rbac.authorization.k8s.io"],
    resources: ["roles", "rolebindings"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
  },
  {
    reason:
      "Whether the author of a ClusterBundle may read what it refers to, and whether our other accounts have what they need.",
    apiGroups: ["authorization.k8s.io"],
    resources: ["subjectaccessreviews"],
    verbs: ["create"],
  },
  {
    reason: "Whether Share APIs and samples of the console are served. Watched by name.",
    apiGroups: ["apiextensions.k8s.io"],
    resources: ["customresourcedefinitions"],
    verbs: ["list", "watch"],
  },
  {
    reason: "Whether a node has the driver that mounts Shares. Only names of drivers are kept.",
    apiGroups: ["storage.k8s.io"],
    resources: ["csinodes"],
    verbs: ["list", "watch"],
  },
  {
    reason: "Shares of ClusterBundles. Only who has the verb use may grant it.",
    apiGroups: [share.kind.group],
    resources: [share.kind.plural],
    verbs: ["get", "list", "watch", "create", "patch", "delete", "use"],
  },
  {
    reason: "Shares of ClusterBundles on OpenShift, likewise.",
    apiGroups: [sharedGroup],
    resources: sharedPlurals,
    verbs: ["get", "list", "watch", "create", "patch", "delete", "use"],
  },
  {
    isOptional: true,
    reason: "One ClusterRole for each ClusterBundle.",
    apiGroups: ["rbac.authorization.k8s.io"],
    resources: ["clusterroles"],
    verbs: ["get", "list", "watch", "create", "patch"],
  },
  {
    reason: "What these ClusterRoles grant besides reading: only who has a permission may grant it.",
    apiGroups: [SUBSCRIPTION_GROUP],
    resources: [clusterBundle.kind.plural],
    verbs: ["use"],
  },
  {
    reason: "Samples in the console of OpenShift.",
    apiGroups: [consoleYamlSamples.group],
    resources: [consoleYamlSamples.plural],
    verbs: ["get", "list", "watch", "create", "patch"],
  },
];
