import type { Client } from "../client/client.ts";
import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";

/** Where the API server reads whom to trust. */
export type BundleTarget =
  /** A webhook configuration. */
  | { readonly kind: "mutating" | "validating"; readonly name: string }
  /** A CustomResourceDefinition with a conversion webhook. */
  | { readonly kind: "conversion"; readonly name: string };

/** How to write bundles. */
export interface BundleWriter {
  readonly client: Pick<Client, "find" | "apply">;
  readonly fieldManager: string;
  readonly signal?: AbortSignal;
}

/**
 * Writes the bundle (PEM) into a webhook configuration or a CRD where it says something else, and nothing but the bundle.
 * A target that does not exist is left alone. True when something was written.
 */
export async function injectBundle(
  writer: BundleWriter,
  target: BundleTarget,
  bundlePem: string,
): Promise<boolean> {
  const caBundle = Buffer.from(bundlePem).toString("base64");
  return target.kind === "conversion"
    ? await injectIntoDefinition(writer, target.name, caBundle)
    : await injectIntoConfiguration(writer, target, caBundle);
}

/** The kind that a target is of. */
export function kindOfTarget({ kind }: BundleTarget): Kind {
  return kind === "conversion" ? definitions : configurations[kind];
}

/** The bundles in a webhook configuration or a CRD, in base64 and in their order; empty where there is none. */
export function bundlesIn(object: WebhookConfiguration & Definition): readonly string[] {
  const conversion = object.spec?.conversion?.webhook?.clientConfig;
  const configs = [...(object.webhooks ?? []).map(({ clientConfig }) => clientConfig), conversion];
  return configs.flatMap((config) => (config === undefined ? [] : [config.caBundle ?? ""]));
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

async function injectIntoConfiguration(
  { client, fieldManager, signal }: BundleWriter,
  { kind, name }: { readonly kind: keyof typeof configurations; readonly name: string },
  caBundle: string,
): Promise<boolean> {
  const served = configurations[kind];
  const limits = signal === undefined ? {} : { signal };
  const found = await client.find(served, { name }, limits);
  const webhooks = found?.webhooks ?? [];
  if (webhooks.every(({ clientConfig }) => clientConfig?.caBundle === caBundle)) return false;
  await client.apply(
    served,
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: served.kind,
      metadata: { name },
      webhooks: webhooks.map((webhook) => ({ name: webhook.name, clientConfig: { caBundle } })),
    },
    // Forced: an installer of the webhook may have written a placeholder, and a bundle that is not ours trusts nobody.
    { ...limits, fieldManager, force: true },
  );
  return true;
}

async function injectIntoDefinition(
  { client, fieldManager, signal }: BundleWriter,
  name: string,
  caBundle: string,
): Promise<boolean> {
  const limits = signal === undefined ? {} : { signal };
  const found = await client.find(definitions, { name }, limits);
  const webhook = found?.spec?.conversion?.webhook;
  if (webhook === undefined || webhook.clientConfig?.caBundle === caBundle) return false;
  await client.apply(
    definitions,
    {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name },
      spec: { conversion: { webhook: { clientConfig: { caBundle } } } },
    },
    { ...limits, fieldManager, force: true },
  );
  return true;
}
