import type { Client } from "../client/client.ts";
import type { InformerEvent } from "../informers/informer-event.ts";
import type { InformerPool } from "../informers/informer-pool.ts";
import { definedFields } from "../object/defined-fields.ts";
import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { type BundleConfigMap, bundleConfigMaps, bundleKey } from "./ca-bundle.ts";

/** Where the API server reads whom to trust. */
export type BundleTarget =
  /** A webhook configuration. */
  | { readonly kind: "mutating" | "validating"; readonly name: string }
  /** A CustomResourceDefinition with a conversion webhook. */
  | { readonly kind: "conversion"; readonly name: string }
  /** A ConfigMap with the bundle in `ca.crt`, for those who fill in the others; made when it does not exist. */
  | { readonly kind: "configMap"; readonly namespace: string; readonly name: string };

/** How to write bundles. */
export interface BundleWriter {
  readonly client: Pick<Client, "find" | "apply">;
  readonly fieldManager: string;
  readonly signal?: AbortSignal;
}

/**
 * Writes the bundle (PEM) into a target where it says something else, and nothing but the bundle. A webhook configuration or
 * CRD that does not exist is left alone. True when something was written.
 */
export async function injectBundle(
  writer: BundleWriter,
  target: BundleTarget,
  bundlePem: string,
): Promise<boolean> {
  const caBundle = Buffer.from(bundlePem).toString("base64");
  if (target.kind === "configMap") return await publishBundle(writer, target, bundlePem);
  return target.kind === "conversion"
    ? await injectIntoDefinition(writer, target.name, caBundle)
    : await injectIntoConfiguration(writer, target, caBundle);
}

export interface BundleWatchOptions {
  readonly informers: InformerPool;
  readonly targets: readonly BundleTarget[];
  /** The target came, came back, or has other bundles than before: by our own hand or another client's. */
  readonly onChange: (target: BundleTarget) => void;
}

/** Watches the targets one by one, by name, so that no right to see others is needed. Disposing ends the watches. */
export function watchBundles({ informers, targets, onChange }: BundleWatchOptions): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  for (const target of targets) {
    const handle = stack.use(
      informers.acquire({
        kind: kindOfTarget(target),
        ...(target.kind === "configMap" ? { namespace: target.namespace } : {}),
        fieldSelector: `metadata.name=${target.name}`,
        projection: bundlesOnly,
      }),
    );
    handle.addHandler((event) => {
      const isDeleted = event.type === "deleted" && target.kind === "configMap";
      if (isDeleted || isAboutBundles(event)) onChange(target);
    });
  }
  return stack;
}

/** Whether the event may mean that a bundle is not what it should be. */
export function isAboutBundles(event: InformerEvent): boolean {
  if (event.type === "deleted") return false;
  if (event.type === "added") return !event.isInitial;
  return bundlesIn(event.old).join() !== bundlesIn(event.new).join();
}

/** A CustomResourceDefinition can have a megabyte; only where bundles stand is kept. */
const bundlesOnly = {
  name: "bundles",
  project: (object: KubeObject): KubeObject => {
    const { apiVersion, kind, metadata } = object;
    const { name, uid, resourceVersion } = metadata;
    const webhooks = bundlesIn(object).map((caBundle, at) => ({
      name: String(at),
      clientConfig: { caBundle },
    }));
    return Object.freeze({
      apiVersion,
      kind,
      metadata: definedFields({ name, uid, resourceVersion }),
      webhooks,
    });
  },
};

/** The kind that a target is of. */
function kindOfTarget({ kind }: BundleTarget): Kind {
  if (kind === "configMap") return bundleConfigMaps;
  return kind === "conversion" ? definitions : configurations[kind];
}

/** The bundles in a target, as they stand there and in their order; empty where there is none. */
function bundlesIn(object: WebhookConfiguration & Definition & BundleConfigMap): readonly string[] {
  const conversion = object.spec?.conversion?.webhook?.clientConfig;
  const configs = [...(object.webhooks ?? []).map(({ clientConfig }) => clientConfig), conversion];
  const published = object.data?.[bundleKey];
  return [
    ...configs.flatMap((config) => (config === undefined ? [] : [config.caBundle ?? ""])),
    ...(published === undefined ? [] : [published]),
  ];
}

interface ClientConfig {
  readonly caBundle?: string;
}

interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: ClientConfig }[];
}

interface Definition extends KubeObject {
  readonly spec?: { readonly conversion?: { readonly webhook?: { readonly clientConfig?: ClientConfig } } };
}

const configurations = {
  mutating: defineKind<WebhookConfiguration>({
    group: "admissionregistration.k8s.io",
    version: "v1",
    kind: "MutatingWebhookConfiguration",
    plural: "mutatingwebhookconfigurations",
    scope: "Cluster",
  }),
  validating: defineKind<WebhookConfiguration>({
    group: "admissionregistration.k8s.io",
    version: "v1",
    kind: "ValidatingWebhookConfiguration",
    plural: "validatingwebhookconfigurations",
    scope: "Cluster",
  }),
} as const;

const definitions = defineKind<Definition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

/**
 * The server refuses the write to another object of the name: its webhooks may be others. Not with the version: others write these objects often, e.g.
 * their status, and only fields that are the bundle are written.
 */
function seenAs(found: KubeObject | undefined): Pick<KubeObject["metadata"], "uid"> {
  const { uid } = found?.metadata ?? {};
  return definedFields({ uid });
}

async function publishBundle(
  { client, fieldManager, signal }: BundleWriter,
  { namespace, name }: Extract<BundleTarget, { kind: "configMap" }>,
  bundlePem: string,
): Promise<boolean> {
  const found = await client.find(bundleConfigMaps, { namespace, name }, { signal });
  if (found?.data?.[bundleKey] === bundlePem) return false;
  await client.apply(
    bundleConfigMaps,
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace, name, ...seenAs(found) },
      data: { [bundleKey]: bundlePem },
    },
    { signal, fieldManager, force: true },
  );
  return true;
}

async function injectIntoConfiguration(
  { client, fieldManager, signal }: BundleWriter,
  { kind, name }: { readonly kind: keyof typeof configurations; readonly name: string },
  caBundle: string,
): Promise<boolean> {
  const served = configurations[kind];
  const found = await client.find(served, { name }, { signal });
  const webhooks = found?.webhooks ?? [];
  if (webhooks.every(({ clientConfig }) => clientConfig?.caBundle === caBundle)) return false;
  await client.apply(
    served,
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: served.kind,
      metadata: { name, ...seenAs(found) },
      webhooks: webhooks.map((webhook) => ({ name: webhook.name, clientConfig: { caBundle } })),
    },
    // Forced: an installer of the webhook may have written a placeholder, and a bundle that is not ours trusts no one.
    { signal, fieldManager, force: true },
  );
  return true;
}

async function injectIntoDefinition(
  { client, fieldManager, signal }: BundleWriter,
  name: string,
  caBundle: string,
): Promise<boolean> {
  const found = await client.find(definitions, { name }, { signal });
  const webhook = found?.spec?.conversion?.webhook;
  if (webhook === undefined || webhook.clientConfig?.caBundle === caBundle) return false;
  await client.apply(
    definitions,
    {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name, ...seenAs(found) },
      spec: { conversion: { webhook: { clientConfig: { caBundle } } } },
    },
    { signal, fieldManager, force: true },
  );
  return true;
}
