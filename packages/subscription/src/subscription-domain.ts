import { bundle, clusterBundle, SUBSCRIPTION_GROUP } from "@quartermaster/api";
import type { Domain, DomainPermission } from "@quartermaster/runtime";

import { bundleControllers, bundlePermissions } from "./bundle-controllers.ts";
import { bundleMetrics, syncMetrics } from "./bundle-metrics.ts";
import { podWebhook } from "./pod-webhook.ts";
import { readSubscriptionSettings, type SubscriptionSettings } from "./subscription-settings.ts";
import { webhookEntries } from "./webhook-entries.ts";

/** What an operator may decide about the domain. */
export interface SubscriptionDomainOptions {
  /** (default: the defaults of the configuration file) */
  readonly settings?: SubscriptionSettings;
  /** Where the operator runs: its own pods must start without its webhook (default: no namespace in particular). */
  readonly operatorNamespace?: string;
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
}: SubscriptionDomainOptions = {}): Domain {
  const excludedNamespaces = [
    ...systemNamespaces,
    ...(operatorNamespace === undefined ? [] : [operatorNamespace]),
  ];
  return {
    name: "subscription",
    grantedBy: "config/rbac-limited/operator.yaml and config/rbac-limited/optional/subscription.yaml",
    permissions: [...bundlePermissions, ...webhookPermissions],
    controllers: ({ concurrency, namespace, series, stored }) => {
      const place = namespace === undefined ? {} : { namespace };
      bundleMetrics(series, {
        bundles: () => stored({ kind: bundle.kind, ...place }),
        clusterBundles: () => stored({ kind: clusterBundle.kind }),
      });
      return bundleControllers({
        concurrency,
        profile: settings.profile,
        allowedClusterRoles: settings.allowedClusterRoles,
        defaultClusterRoles: settings.defaultClusterRoles,
        ...place,
      });
    },
    webhooks: (host) => {
      const onKept = syncMetrics(host.series);
      return {
        configurations: webhookEntries({
          excludedNamespaces,
          onKept,
          ...(host.namespace === undefined ? {} : { namespace: host.namespace }),
        }),
        routes: (stores, serving) => [podWebhook({ host, stores, serving, settings, excludedNamespaces })],
      };
    },
  };
}

/** A cluster must be able to start without us. */
const systemNamespaces = ["kube-system", "kube-public", "kube-node-lease"];

const rbacGroup = "rbac.authorization.k8s.io";

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
    reason:
      "Names of the keys of objects that bundles refer to, one object at a time, by name: two objects with the same key must not be mounted together. Values are dropped at once; nothing is listed.",
    apiGroups: [""],
    resources: ["secrets", "configmaps"],
    verbs: ["get", "watch"],
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
    reason: "When permissions change, answers to that question are forgotten at once. Only metadata is read.",
    apiGroups: [rbacGroup],
    resources: ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
    verbs: ["list", "watch"],
  },
];
