import { bundle, clusterBundle } from "@quartermaster/api";
import {
  AccessCache,
  type AdmissionRequest,
  createClient,
  type DecideAdmission,
  type DomainHost,
  type WebhookRoute,
  type WebhookServing,
  type WebhookStores,
} from "@quartermaster/runtime";
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from "@quartermaster/runtime/kinds";

import { BundleReader } from "./facts/bundle-reader.ts";
import { type FactReaders, gatherFacts } from "./facts/gather-facts.ts";
import { KeyIndex } from "./facts/key-index.ts";
import { injectionMetrics } from "./injection-metrics.ts";
import { decideEphemeral } from "./injection/decide-ephemeral.ts";
import { decideInjection } from "./injection/decide-injection.ts";
import { type InjectionDecision, skipped } from "./injection/injection-decision.ts";
import { viewPod } from "./injection/pod-view.ts";
import type { SubscriptionSettings } from "./subscription-settings.ts";

/** Path of the pod webhook. */
export const podWebhookPath = "/subscription/pods";

export interface PodWebhookOptions {
  readonly host: Pick<DomainHost, "transport" | "system" | "series" | "namespace">;
  readonly stores: WebhookStores;
  /** For metrics. */
  readonly serving: WebhookServing;
  readonly settings: SubscriptionSettings;
  /** Pods of these namespaces are never touched. */
  readonly excludedNamespaces: readonly string[];
}

/** The route for pods: facts, then a pure decision. Failures are thrown, and the failure policy decides. */
export function podWebhook(options: PodWebhookOptions): WebhookRoute {
  const { host, stores, serving, settings, excludedNamespaces } = options;
  const { transport, system, series, namespace } = host;
  const client = createClient({ transport });
  const keys = new KeyIndex({
    client,
    system,
    watch: stores.watch,
    sleep: async (ms) => {
      await system.sleep(ms);
    },
  });
  const observer = injectionMetrics(series, { serving, wallMs: () => system.wallMs(), keyIndex: keys });
  const access = new AccessCache({
    client,
    system,
    onReview: (each) => {
      observer.reviewed(each);
    },
  });
  for (const kind of [roles, roleBindings, clusterRoles, clusterRoleBindings])
    stores.onChange({ kind, isMetadataOnly: true }, () => {
      access.clear();
    });
  const bundles = new BundleReader({
    client,
    system,
    bundles: stores.store({ kind: bundle.kind, namespace }),
    clusterBundles: stores.store({ kind: clusterBundle.kind }),
    onResolved: (source) => {
      observer.resolved(source);
    },
  });
  const readers: FactReaders = { bundles, keys, access };
  const decide: DecideAdmission = async (request, { signal }) => {
    const startMs = system.monotonicMs();
    try {
      const isExcluded = excludedNamespaces.includes(request.namespace ?? "");
      const decision = isExcluded ? skipped() : await response(request, { readers, settings, signal });
      observer.decided(decision);
      return decision.admission;
    } catch (error) {
      observer.decided({ result: "error", scope: "none", reason: "none" });
      throw error;
    } finally {
      observer.took(system.monotonicMs() - startMs);
    }
  };
  return { kind: "admission", path: podWebhookPath, bodyLimitBytes: 6 * 2 ** 20, decide };
}

interface WebhookDeps {
  readonly readers: FactReaders;
  readonly settings: SubscriptionSettings;
  readonly signal: AbortSignal;
}

async function response(
  request: AdmissionRequest,
  { readers, settings, signal }: WebhookDeps,
): Promise<InjectionDecision> {
  const { resource, subResource = "", operation, object, oldObject, namespace = "" } = request;
  if (resource.group !== "" || resource.resource !== "pods") return skipped();
  if (subResource === "ephemeralcontainers" && operation === "UPDATE")
    return decideEphemeral(object, oldObject, settings);
  if (subResource !== "" || operation !== "CREATE") return skipped();
  const pod = viewPod(object);
  const facts = await gatherFacts({ pod, namespace, signal }, readers);
  return decideInjection(pod, facts, settings);
}
