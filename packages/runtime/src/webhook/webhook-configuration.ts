import type { InformerRequest } from "../informers/informer-pool.ts";
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from "../kinds/index.ts";
import type { WebhookConfiguration } from "../kinds/index.ts";
import { deepEqual } from "../object/deep-equal.ts";
import { apiVersionOf, type Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { ReadStore } from "../store/object-store.ts";

/**
 * A webhook configuration that a domain wants. The installation brings it, empty, and we update it: RBAC cannot limit a create, and
 * who may create one can see and change every request of the cluster. While no webhook is wanted, it is empty.
 */
export interface WebhookConfigurationSpec {
  readonly kind: "mutating" | "validating";
  readonly name: string;
  readonly webhooks: readonly WebhookSpec[] | DerivedWebhooks;
  /** Hook for metrics, called after each check by its keeper. */
  readonly onKept?: ((state: KeptState) => void) | undefined;
}

/** Whether a configuration is as it should be, bundle included; `absent` where no webhook is wanted. */
export type KeptState = "inSync" | "outOfSync" | "absent";

/** One webhook, in the words of Kubernetes. Its clientConfig is filled in. */
export interface WebhookSpec {
  /** With three parts at least, e.g. `pods.inject.quartermaster.dev`. */
  readonly name: string;
  /** Path of its route. */
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

/** Webhooks that follow from stored objects, e.g. only for the namespaces that have one. */
export interface DerivedWebhooks {
  readonly requests: readonly InformerRequest[];
  /** One store per request; undefined while it is not filled. Undefined: not known yet, and nothing is changed. */
  readonly from: (stores: readonly (ReadStore | undefined)[]) => readonly WebhookSpec[] | undefined;
}

/** Where the API server reaches the webhook. */
export type WebhookAddress =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
  /** e.g. `https://127.0.0.1:9443`, for an operator outside the cluster. */
  | { readonly url: string };

export interface ConfigurationState {
  /** Whether there are webhooks for it; undefined while the stores that decide are not filled. */
  readonly isWanted: boolean | undefined;
  readonly hasBundle: boolean;
  /** `empty`: ours, and without webhooks. */
  readonly live: "absent" | "empty" | "asWanted" | "differs" | "foreign";
  /** The object that the configurations belong to does not exist or is being deleted: the installation is being removed. */
  readonly isOwnerLeaving: boolean;
}

/** Next step for a configuration. `clear` takes all its webhooks away. */
export type ConfigurationStep = "keep" | "create" | "replace" | "clear" | "nameTaken";

/**
 * Decides upon one configuration. Without a bundle nothing is registered, and what is registered keeps the bundle that it has. Without
 * its owner nothing is registered either: a webhook must not outlive the installation.
 */
export function configurationStep({
  isWanted,
  hasBundle,
  live,
  isOwnerLeaving,
}: ConfigurationState): ConfigurationStep {
  if (isWanted === undefined) return "keep";
  if (live === "foreign") return isWanted ? "nameTaken" : "keep";
  if (!isWanted) return ["absent", "empty"].includes(live) ? "keep" : "clear";
  if (!hasBundle || isOwnerLeaving || live === "asWanted") return "keep";
  return live === "absent" ? "create" : "replace";
}

export function keptState({
  isWanted,
  step,
  live,
  isWaiting,
}: Pick<ConfigurationState, "live" | "isWanted"> & {
  readonly step: ConfigurationStep;
  readonly isWaiting: boolean;
}): KeptState {
  if (isWaiting || step === "nameTaken") return "outOfSync";
  if (step !== "keep") return step === "clear" ? "absent" : "inSync";
  if (live === "absent" || live === "empty") return isWanted === true ? "outOfSync" : "absent";
  return live === "asWanted" ? "inSync" : "outOfSync";
}

/** Who made a configuration: by this label, and nothing else, it is ours to change and to delete. */
export const configurationOwnerLabel = "quartermaster.dev/webhook-configuration-of";

export interface ConfigurationFill {
  readonly address: WebhookAddress;
  readonly bundlePem: string;
  /** Who we are: value of the label, e.g. namespace and name of the operator. */
  readonly owner: string;
}

/** The whole object. Defaults of the API server are explicit, so that it can be compared field by field. */
export function desiredConfiguration(
  {
    kind,
    name,
    webhooks,
  }: Pick<WebhookConfigurationSpec, "kind" | "name"> & {
    readonly webhooks: readonly WebhookSpec[];
  },
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

/** Object that the configurations are deleted with. */
export interface ConfigurationOwner {
  readonly kind: Kind;
  readonly name: string;
  /** Undefined where it may not be read. */
  readonly uid: string | undefined;
}

/**
 * The configuration as it is deleted with its owner: an operator that is deleted must not block requests. Earlier releases made the
 * namespace the owner, and an owner that was made again has another uid: with either beside the owner, the configuration would stay.
 */
export function ownedBy(
  configuration: WebhookConfiguration,
  { kind, name, uid }: ConfigurationOwner,
): WebhookConfiguration {
  if (uid === undefined) return configuration;
  const own = { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid };
  const others =
    configuration.metadata.ownerReferences?.filter(
      (owner) => owner.kind !== own.kind && owner.kind !== "Namespace",
    ) ?? [];
  return {
    ...configuration,
    metadata: { ...configuration.metadata, ownerReferences: [...others, own] },
  };
}

/** How the live object compares to the wanted one. One that does not belong to the owner differs. */
export function compareConfiguration(
  wanted: WebhookConfiguration,
  live: WebhookConfiguration | undefined,
  owner: Pick<ConfigurationOwner, "uid">,
): ConfigurationState["live"] {
  if (live === undefined) return "absent";
  const ownerOf = ({ metadata }: KubeObject): string | undefined =>
    metadata.labels?.[configurationOwnerLabel];
  if (ownerOf(live) !== ownerOf(wanted)) return "foreign";
  const webhooks = live.webhooks ?? [];
  if (webhooks.length === 0) return "empty";
  const isOwned =
    owner.uid === undefined || live.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
  return isOwned && deepEqual(wanted.webhooks, webhooks) ? "asWanted" : "differs";
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
