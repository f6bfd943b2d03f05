import type { InformerRequest } from "../informers/informer-pool.ts";
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from "../kinds/index.ts";
import type { WebhookConfiguration } from "../kinds/index.ts";
import { deepEqual } from "../object/deep-equal.ts";
import { apiVersionOf, type Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { ReadStore } from "../store/object-store.ts";

/** A webhook configuration that a domain wants. It is created whole and deleted whole: an empty one never exists. */
export interface WebhookConfigurationSpec {
  readonly kind: "mutating" | "validating";
  readonly name: string;
  readonly webhooks: readonly [WebhookSpec, ...WebhookSpec[]];
  /** It exists only while one of these holds (default: always). */
  readonly wantedWhile?: readonly WantedWhile[];
  /** Hook for metrics, called after each look by the one who keeps it. */
  readonly onKept?: (state: KeptState) => void;
}

/** Whether a configuration is as it should be, bundle included; `absent` where it is not wanted. */
export type KeptState = "inSync" | "outOfSync" | "absent";

/** One webhook, in the words of Kubernetes. Where and by whom it is answered is filled in. */
export interface WebhookSpec {
  /** With three parts at least, e.g. `pods.inject.quartermaster.dev`. */
  readonly name: string;
  /** That of the route which answers. */
  readonly path: string;
  readonly rules: readonly WebhookRule[];
  readonly failurePolicy: "Fail" | "Ignore";
  readonly sideEffects: "None" | "NoneOnDryRun";
  /** Default: 10. */
  readonly timeoutSeconds?: number;
  readonly namespaceSelector?: object;
  readonly objectSelector?: object;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  /** Only for mutating ones (default: Never). */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

/** Which requests are sent to a webhook. */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly ("CREATE" | "UPDATE" | "DELETE" | "CONNECT" | "*")[];
  readonly resources: readonly string[];
  /** Default: `*`. */
  readonly scope?: "Cluster" | "Namespaced" | "*";
}

/** A condition on stored objects; see `wantedWhile`. */
export interface WantedWhile {
  readonly request: InformerRequest;
  readonly holds: (store: ReadStore) => boolean;
}

/** Where the API server reaches the webhook. */
export type WebhookAddress =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
  /** e.g. `https://127.0.0.1:9443`, for an operator outside the cluster. */
  | { readonly url: string };

/**
 * A configuration is wanted while a condition on stored objects holds. While the store is not filled, nothing is changed.
 *
 * @example
 * wantedWhile({ kind: bundles }, (store) => store.list().some(({ spec }) => spec.always))
 */
export function wantedWhile<O extends KubeObject>(
  request: InformerRequest<O>,
  holds: (store: ReadStore<O>) => boolean,
): WantedWhile {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the request that the store is made for vouches for its objects
  return { request, holds } as unknown as WantedWhile;
}

/** What is known about one configuration. */
export interface ConfigurationState {
  /** Undefined while the store that decides is not filled. */
  readonly isWanted: boolean | undefined;
  readonly hasBundle: boolean;
  readonly live: "absent" | "asWanted" | "differs" | "foreign";
}

/** What to do about a configuration. */
export type ConfigurationStep = "keep" | "create" | "replace" | "delete" | "nameTaken";

/** Decides upon one configuration. Without a bundle nothing is created, and what exists keeps the bundle that it has. */
export function configurationStep({ isWanted, hasBundle, live }: ConfigurationState): ConfigurationStep {
  if (isWanted === undefined) return "keep";
  if (live === "foreign") return isWanted ? "nameTaken" : "keep";
  if (!isWanted) return live === "absent" ? "keep" : "delete";
  if (!hasBundle || live === "asWanted") return "keep";
  return live === "absent" ? "create" : "replace";
}

/** What came of a look at a configuration, for `onKept`. */
export function keptState({
  step,
  live,
  isWaiting,
}: Pick<ConfigurationState, "live"> & {
  readonly step: ConfigurationStep;
  readonly isWaiting: boolean;
}): KeptState {
  if (isWaiting || step === "nameTaken") return "outOfSync";
  if (step === "delete" || (step === "keep" && live === "absent")) return "absent";
  return step === "keep" && live !== "asWanted" ? "outOfSync" : "inSync";
}

/** Who made a configuration: by this label, and nothing else, it is ours to change and to delete. */
export const configurationOwnerLabel = "quartermaster.dev/webhook-configuration-of";

/** What a configuration is filled in with. */
export interface ConfigurationFill {
  readonly address: WebhookAddress;
  readonly bundlePem: string;
  /** Who we are: value of the label, e.g. namespace and name of the operator. */
  readonly owner: string;
}

/** The whole object. What the API server would default is said, so that it can be compared field by field. */
export function desiredConfiguration(
  { kind, name, webhooks }: WebhookConfigurationSpec,
  { address, bundlePem, owner }: ConfigurationFill,
): WebhookConfiguration {
  const served = configurationKinds[kind];
  const caBundle = Buffer.from(bundlePem).toString("base64");
  return {
    apiVersion: apiVersionOf(served),
    kind: served.kind,
    metadata: { name, labels: { [configurationOwnerLabel]: owner } },
    webhooks: webhooks.map(({ path, rules, reinvocationPolicy = "Never", ...webhook }) => ({
      admissionReviewVersions: ["v1"],
      matchPolicy: "Equivalent",
      timeoutSeconds: 10,
      namespaceSelector: {},
      objectSelector: {},
      ...webhook,
      rules: rules.map((rule) => ({ scope: "*", ...rule })),
      ...(kind === "mutating" ? { reinvocationPolicy } : {}),
      clientConfig: { ...clientAt(address, path), caBundle },
    })),
  };
}

/** The configuration as it goes with the operator's namespace: an operator that is gone must not block requests. */
export function ownedByNamespace(
  configuration: WebhookConfiguration,
  namespace: KubeObject | undefined,
): WebhookConfiguration {
  if (namespace?.metadata.uid === undefined) return configuration;
  const { name, uid } = namespace.metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "Namespace", name, uid }];
  return { ...configuration, metadata: { ...configuration.metadata, ownerReferences } };
}

/** How the live object compares to the wanted one. */
export function compareConfiguration(
  wanted: WebhookConfiguration,
  live: WebhookConfiguration | undefined,
): ConfigurationState["live"] {
  if (live === undefined) return "absent";
  const ownerOf = ({ metadata }: KubeObject): string | undefined =>
    metadata.labels?.[configurationOwnerLabel];
  if (ownerOf(live) !== ownerOf(wanted)) return "foreign";
  return deepEqual(wanted.webhooks, live.webhooks) ? "asWanted" : "differs";
}

/**
 * How long to wait before one more write, given the times of earlier ones in order. Where another writer undoes ours again and
 * again, `limit` writes a minute are enough.
 */
export function waitBeforeWriteMs(
  writtenMs: readonly number[],
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): number {
  const recent = writtenMs.filter((atMs) => atMs > nowMs - 60_000);
  const decisive = recent.at(-limit);
  return recent.length < limit || decisive === undefined ? 0 : decisive + 60_000 - nowMs;
}

/** Where configurations of each kind are served. */
export const configurationKinds: Readonly<
  Record<WebhookConfigurationSpec["kind"], Kind<WebhookConfiguration>>
> = {
  mutating: mutatingWebhookConfigurations,
  validating: validatingWebhookConfigurations,
};

function clientAt(
  address: WebhookAddress,
  path: string,
): { readonly url: string } | { readonly service: object } {
  if ("url" in address) return { url: `${address.url}${path}` };
  return { service: { port: 443, ...address.service, path } };
}
