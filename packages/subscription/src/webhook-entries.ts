import { ALWAYS_INJECT_LABEL, bundle, clusterBundle } from "@quartermaster/api";
import type { KeptState, ReadStore, WebhookConfigurationSpec, WebhookSpec } from "@quartermaster/runtime";

import { annotations } from "./injection/annotations.ts";
import { criticalClasses } from "./injection/pod-view.ts";
import { podWebhookPath } from "./pod-webhook.ts";

/** Which pods the webhooks are called for. */
export interface WebhookEntriesOptions {
  /** Pods of these namespaces never reach the webhook. */
  readonly excludedNamespaces: readonly string[];
  /** Only pods of this namespace (default: all others). */
  readonly namespace?: string | undefined;
  /** Hook for metrics. */
  readonly onKept?: ((name: string, state: KeptState) => void) | undefined;
}

/**
 * Two configurations. The first always has its webhooks: pods that name a bundle fail while no replica responds, all others do not. The
 * second has one only while a bundle has the always-inject label, and only for the namespaces concerned: it costs every new pod a call.
 */
export function webhookEntries(options: WebhookEntriesOptions): readonly WebhookConfigurationSpec[] {
  const { namespace, onKept } = options;
  const name = `${stem}${namespace === undefined ? "" : `-${namespace}`}`;
  const common = { ...always, namespaceSelector: selectorOf(options) };
  const labelSelector = `${ALWAYS_INJECT_LABEL}=true`;
  const observed = (configuration: string): Pick<WebhookConfigurationSpec, "name" | "onKept"> => ({
    name: configuration,
    onKept: (state) => onKept?.(configuration, state),
  });
  return [
    {
      kind: "mutating",
      ...observed(name),
      webhooks: [namedEntry(common), staleEntry(common), ephemeralEntry(common)],
    },
    {
      kind: "mutating",
      ...observed(`${name}-auto`),
      webhooks: {
        requests: [
          { kind: bundle.kind, labelSelector, namespace },
          { kind: clusterBundle.kind, labelSelector },
        ],
        from: ([bundles, clusterBundles]) => automaticEntries(options, bundles, clusterBundles),
      },
    },
  ];
}

const stem = "quartermaster-subscription";

/** The configurations as they are called where all namespaces are watched. */
export const webhookNames = [
  { kind: "mutating", name: stem },
  { kind: "mutating", name: `${stem}-auto` },
] as const;

/** A ClusterBundle concerns all namespaces, a Bundle its own. Undefined while that is not known. */
function automaticEntries(
  options: WebhookEntriesOptions,
  bundles: ReadStore | undefined,
  clusterBundles: ReadStore | undefined,
): readonly WebhookSpec[] | undefined {
  const namespaces = namespacesIn(bundles);
  const isEverywhere = (clusterBundles?.size ?? 0) > 0 || namespaces.length > namespaceLimit;
  const namespaceSelector = selectorOf(options, isEverywhere ? undefined : namespaces);
  if (isEverywhere || namespaces.length > 0) return [automaticEntry({ ...always, namespaceSelector })];
  return bundles === undefined || clusterBundles === undefined ? undefined : [];
}

function namespacesIn(bundles: ReadStore | undefined): readonly string[] {
  const labelled = bundles?.list().map(({ metadata }) => metadata.namespace ?? "") ?? [];
  return [...new Set(labelled)].toSorted();
}

/** With more of them, the API server calls us for pods of all namespaces: the list is a part of one object. */
const namespaceLimit = 2_000;

type Common = Pick<WebhookSpec, "path" | "sideEffects" | "reinvocationPolicy" | "namespaceSelector">;

/** Queried again when a later webhook adds containers: they get the mounts too. */
const always = { path: podWebhookPath, sideEffects: "None", reinvocationPolicy: "IfNeeded" } as const;

function selectorOf(
  { excludedNamespaces, namespace }: WebhookEntriesOptions,
  among: readonly string[] | undefined = namespace === undefined ? undefined : [namespace],
): object {
  const key = "kubernetes.io/metadata.name";
  const excluded = { key, operator: "NotIn", values: excludedNamespaces.toSorted() };
  return {
    matchExpressions: among === undefined ? [excluded] : [excluded, { key, operator: "In", values: among }],
  };
}

const newPods = [
  { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "Namespaced" },
] as const;

/** Pods without annotations must not make an expression fail: with `Fail` that would refuse them. */
function has(annotation: string): string {
  return `(has(object.metadata.annotations) && '${annotation}' in object.metadata.annotations)`;
}

const namesBundle = `${has(annotations.injectBundle)} || ${has(annotations.injectClusterBundle)}`;
/** Without them the network or a volume driver does not start, and then nothing else does. */
const notCritical = {
  name: "not-system-critical",
  expression: `!(has(object.spec.priorityClassName) && object.spec.priorityClassName in ${JSON.stringify(criticalClasses).replaceAll('"', "'")})`,
};

const notMirror = { name: "not-a-mirror-pod", expression: `!${has(annotations.mirror)}` };

/** Pods that name a bundle: without it they would run without what they need. */
function namedEntry(common: Common): WebhookSpec {
  return {
    ...common,
    name: "pods.inject.subscription.openshift.io",
    rules: newPods,
    failurePolicy: "Fail",
    timeoutSeconds: 5,
    matchConditions: [{ name: "names-a-bundle", expression: namesBundle }, notMirror],
  };
}

/** Pods that only claim to have been injected: the claim is removed, or replaced by the truth. */
function staleEntry(common: Common): WebhookSpec {
  return {
    ...common,
    name: "stale.inject.subscription.openshift.io",
    rules: newPods,
    failurePolicy: "Ignore",
    timeoutSeconds: 3,
    matchConditions: [
      { name: "claims-injection", expression: has(annotations.generations) },
      { name: "names-no-bundle", expression: `!(${namesBundle})` },
      notMirror,
    ],
  };
}

/** Debug containers of pods that were injected. */
function ephemeralEntry(common: Common): WebhookSpec {
  return {
    ...common,
    name: "ephemeral.inject.subscription.openshift.io",
    rules: [
      {
        apiGroups: [""],
        apiVersions: ["v1"],
        operations: ["UPDATE"],
        resources: ["pods/ephemeralcontainers"],
        scope: "Namespaced",
      },
    ],
    failurePolicy: "Ignore",
    timeoutSeconds: 3,
    matchConditions: [{ name: "was-injected", expression: has(annotations.generations) }],
  };
}

/** All other pods: they start without always-inject bundles rather than not at all. */
function automaticEntry(common: Common): WebhookSpec {
  return {
    ...common,
    name: "auto.inject.subscription.openshift.io",
    rules: newPods,
    failurePolicy: "Ignore",
    timeoutSeconds: 3,
    matchConditions: [{ name: "names-no-bundle", expression: `!(${namesBundle})` }, notMirror, notCritical],
  };
}
