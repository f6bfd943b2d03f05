import { ALWAYS_INJECT_LABEL, bundle, clusterBundle } from "@quartermaster/api";
import {
  type Client,
  type JsonPatchOperation,
  type Kind,
  type KubeObject,
  reviewAccess,
  type System,
} from "@quartermaster/runtime";

import { type FactReaders, gatherFacts } from "./facts/gather-facts.ts";
import { KeyIndex } from "./facts/key-index.ts";
import { annotationWarnings } from "./injection/annotation-warnings.ts";
import { decideInjection } from "./injection/decide-injection.ts";
import { viewPod } from "./injection/pod-view.ts";
import { readSubscriptionSettings, type SubscriptionSettings } from "./subscription-settings.ts";

/** The pod to explain, and the permissions for reads. */
export interface ExplainOptions {
  /** Reads bundles and keys, and requests the access of the pod's service account. */
  readonly client: Client;
  /** Where the pod would be created. */
  readonly namespace: string;
  readonly system: Pick<System, "monotonicMs">;
  readonly signal: AbortSignal;
  /** The Deployment or other workload that describes the pod: annotations on it are warned about (default: none). */
  readonly workload?: unknown;
  /** (default: the defaults of the configuration file) */
  readonly settings?: SubscriptionSettings | undefined;
}

/** The webhook's response. */
export interface InjectionExplanation {
  readonly result: "injected" | "skipped" | "rejected";
  /** Why it is rejected; `none` otherwise. */
  readonly reason: string;
  /** The API server's message; empty unless the pod is rejected. */
  readonly message: string;
  readonly warnings: readonly string[];
  readonly patch: readonly JsonPatchOperation[];
}

/**
 * Decides upon a pod as the webhook does, with the caller's own permissions and without creating anything.
 *
 * @example
 * const { result, message } = await explainInjection(pod, { client, namespace: "shop", system, signal });
 */
export async function explainInjection(pod: unknown, options: ExplainOptions): Promise<InjectionExplanation> {
  const { namespace, signal, settings = readSubscriptionSettings({}) } = options;
  const readers = await liveReaders(options);
  const view = viewPod(pod);
  const facts = await gatherFacts({ pod: view, namespace, signal }, readers);
  const { result, reason, admission } = decideInjection(view, facts, settings);
  const ofKeys = annotationWarnings(pod, options.workload);
  if (admission.kind === "deny")
    return { result, reason, message: admission.message, warnings: ofKeys, patch: [] };
  const { warnings = [], patch = [] } = admission;
  return { result, reason, message: "", warnings: [...ofKeys, ...warnings], patch };
}

async function liveReaders({ client, namespace, system, signal }: ExplainOptions): Promise<FactReaders> {
  const labelled = async <O extends KubeObject>(
    kind: Kind<O>,
    location: { readonly namespace?: string },
  ): Promise<readonly O[]> => {
    const labelSelector = `${ALWAYS_INJECT_LABEL}=true`;
    return await Array.fromAsync(client.list(kind, { labelSelector, signal, ...location }));
  };
  const [bundles, clusterBundles] = await Promise.all([
    labelled(bundle.kind, { namespace }),
    labelled(clusterBundle.kind, {}),
  ]);
  return {
    bundles: {
      labelledBundles: () => bundles,
      labelledClusterBundles: () => clusterBundles,
      bundle: async (location, name) =>
        await client.find(bundle.kind, { namespace: location, name }, { signal }),
      clusterBundle: async (name) => await client.find(clusterBundle.kind, { name }, { signal }),
    },
    keys: new KeyIndex({ client, system }),
    access: { isAllowed: async (request, how) => await reviewAccess(client, request, how) },
  };
}
