import { bundle, clusterBundle, SUBSCRIPTION_GROUP } from "@quartermaster/api";
import type { Domain, DomainPermission } from "@quartermaster/runtime";

import { bundleControllers, bundlePermissions } from "./bundle-controllers.ts";
import { bundleMetrics, syncMetrics } from "./bundle-metrics.ts";
import { driverAccount } from "./object-access/object-access.ts";
import { podWebhook } from "./pod-webhook.ts";
import { readSubscriptionSettings, type SubscriptionSettings } from "./subscription-settings.ts";
import { webhookEntries, webhookNames } from "./webhook-entries.ts";

/** Options of the domain for an operator. */
export interface SubscriptionDomainOptions {
  /** (default: the defaults of the configuration file) */
  readonly settings?: SubscriptionSettings | undefined;
  /** Where the operator runs: its own pods must start without its webhook (default: no namespace in particular). */
  readonly operatorNamespace?: string | undefined;
  /** Whether ClusterBundles without a recorded author share nothing (default: false). */
  readonly requireAuthor?: boolean | undefined;
}

/**
 * Subscription injection as a part of an operator: Bundle, ClusterBundle and the webhook that injects them into pods.
 *
 * @example
 * await run({ name: "quartermaster", domains: [subscriptionDomain({ operatorNamespace: "quartermaster" })], webhook });
 */
export function subscriptionDomain({
  settings = readSubscriptionSettings({}),
  operatorNamespace,
  requireAuthor = false,
}: SubscriptionDomainOptions = {}): Domain {
  const webhookAccount =
    operatorNamespace === undefined
      ? undefined
      : { name: "quartermaster-webhook", namespace: operatorNamespace };
  const excludedNamespaces = [
    ...systemNamespaces,
    ...(operatorNamespace === undefined ? [] : [operatorNamespace]),
  ];
  return {
    name: "subscription",
    grantedBy: "config/rbac-limited/operator.yaml and config/rbac-limited/optional/subscription.yaml",
    permissions: [...bundlePermissions, ...webhookPermissions],
    webhookConfigurations: webhookNames,
    controllers: ({ concurrency, namespace, series, stored }) => {
      bundleMetrics(series, {
        bundles: () => stored({ kind: bundle.kind, namespace }),
        clusterBundles: () => stored({ kind: clusterBundle.kind }),
      });
      return bundleControllers({
        concurrency,
        profile: settings.profile,
        allowedClusterRoles: settings.allowedClusterRoles,
        defaultClusterRoles: settings.defaultClusterRoles,
        requireAuthor,
        webhookAccount,
        driver: settings.driver,
        namespace,
      });
    },
    webhooks: (host) => {
      const onKept = syncMetrics(host.series);
      return {
        configurations: webhookEntries({
          excludedNamespaces,
          onKept,
          namespace: host.namespace,
        }),
        routes: (stores, serving) => [podWebhook({ host, stores, serving, settings, excludedNamespaces })],
      };
    },
  };
}

/** A cluster must be able to start without us, and the driver that mounts our volumes without them. */
const systemNamespaces = ["kube-system", "kube-public", "kube-node-lease", driverAccount.namespace];

const rbacGroup = "rbac.authorization.k8s.io";

/** Secrets and ConfigMaps are not among them: the controllers grant those that bundles refer to one by one, see object-access. */
const webhookPermissions: readonly DomainPermission[] = [
  {
    role: "webhook",
    reason: "The bundles that pods get.",
    apiGroups: [SUBSCRIPTION_GROUP],
    resources: ["bundles", "clusterbundles"],
    verbs: ["get", "list", "watch"],
  },
  {
    role: "webhook",
    reason: "Whether the service account of a pod may use a ClusterBundle.",
    apiGroups: ["authorization.k8s.io"],
    resources: ["subjectaccessreviews"],
    verbs: ["create"],
  },
  {
    role: "webhook",
    reason: "When permissions change, cached reviews are dropped immediately. Only metadata is read.",
    apiGroups: [rbacGroup],
    resources: ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
    verbs: ["list", "watch"],
  },
];
