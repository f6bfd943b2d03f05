import type { WebhookOptions } from "@quartermaster/runtime";

import { SettingsError } from "./flag-table.ts";
import type { WebhookFlags } from "./settings.ts";

/** Role of the webhook's account. Webhook configurations belong to it: it is deleted with the installation, and namespaces may stay. */
export const webhookClusterRole = "quartermaster-webhook";

/** How the API server reaches the webhook and whom it trusts; undefined without an address. Throws SettingsError. */
export function webhookOptions(flags: WebhookFlags): WebhookOptions | undefined {
  const certificates = certificatesOf(flags);
  const address = addressOf(flags);
  const namespace = flags.namespace ?? flags.service?.split("/")[0];
  if (address === undefined || namespace === undefined) return undefined;
  const { port, host } = flags;
  return {
    address,
    namespace,
    clusterRole: webhookClusterRole,
    port,
    ...(host === undefined ? {} : { host }),
    ...certificates,
    ...caOf(flags, namespace),
  };
}

function addressOf({ url, service }: WebhookFlags): WebhookOptions["address"] | undefined {
  if (url !== undefined) return { url: url.replace(/\/$/, "") };
  const [namespace, name] = service?.split("/") ?? [];
  return namespace === undefined || name === undefined ? undefined : { service: { namespace, name } };
}

function certificatesOf(flags: WebhookFlags): Pick<WebhookOptions, "files"> {
  const { certificatePath, keyPath, caPath, caConfigMap } = flags;
  if (caPath !== undefined && caConfigMap !== undefined)
    throw new SettingsError("--webhook-ca-file, --webhook-ca-configmap: give one of them");
  if ((certificatePath === undefined) !== (keyPath === undefined))
    throw new SettingsError("--webhook-cert-file, --webhook-key-file: give both or none");
  if (certificatePath !== undefined && keyPath !== undefined) return { files: { certificatePath, keyPath } };
  if (caPath !== undefined || caConfigMap !== undefined)
    throw new SettingsError(
      "--webhook-ca-file, --webhook-ca-configmap: need --webhook-cert-file and --webhook-key-file",
    );
  return {};
}

function caOf(
  { caPath: path, caConfigMap: name, caKey: key }: WebhookFlags,
  namespace: string,
): Pick<WebhookOptions, "caSource"> {
  if (path !== undefined) return { caSource: { kind: "file", path } };
  return name === undefined ? {} : { caSource: { kind: "configMap", ref: { namespace, name }, key } };
}
