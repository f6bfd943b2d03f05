import type { WebhookOptions } from "@quartermaster/runtime";

import { SettingsError } from "./settings-error.ts";

/** Flags about the webhook, each valid by itself. */
export interface WebhookFlags {
  readonly "webhook-service"?: string | undefined;
  readonly "webhook-url"?: string | undefined;
  readonly "webhook-namespace"?: string | undefined;
  readonly "webhook-port": number;
  readonly "webhook-host"?: string | undefined;
  readonly "webhook-cert-file"?: string | undefined;
  readonly "webhook-key-file"?: string | undefined;
  readonly "webhook-ca-file"?: string | undefined;
  readonly "webhook-ca-configmap"?: string | undefined;
  readonly "webhook-ca-key": string;
}

/** How the API server reaches the webhook and whom it trusts; undefined without an address. Throws SettingsError. */
export function webhookSettings(flags: WebhookFlags): WebhookOptions | undefined {
  const certificates = certificatesOf(flags);
  const address = addressOf(flags);
  const namespace = flags["webhook-namespace"] ?? flags["webhook-service"]?.split("/")[0];
  if (address === undefined || namespace === undefined) return undefined;
  const host = flags["webhook-host"];
  return {
    address,
    namespace,
    port: flags["webhook-port"],
    ...(host === undefined ? {} : { host }),
    ...certificates,
    ...authorityOf(flags, namespace),
  };
}

function addressOf(flags: WebhookFlags): WebhookOptions["address"] | undefined {
  const { "webhook-url": url, "webhook-service": service } = flags;
  if (url !== undefined) return { url: url.replace(/\/$/, "") };
  const [namespace, name] = service?.split("/") ?? [];
  return namespace === undefined || name === undefined ? undefined : { service: { namespace, name } };
}

function certificatesOf(flags: WebhookFlags): Pick<WebhookOptions, "files"> {
  const { "webhook-cert-file": certificatePath, "webhook-key-file": keyPath } = flags;
  const { "webhook-ca-file": caFile, "webhook-ca-configmap": configMap } = flags;
  if (caFile !== undefined && configMap !== undefined)
    throw new SettingsError("--webhook-ca-file, --webhook-ca-configmap: give one of them");
  if ((certificatePath === undefined) !== (keyPath === undefined))
    throw new SettingsError("--webhook-cert-file, --webhook-key-file: give both or none");
  if (certificatePath !== undefined && keyPath !== undefined) return { files: { certificatePath, keyPath } };
  if (caFile !== undefined || configMap !== undefined)
    throw new SettingsError(
      "--webhook-ca-file, --webhook-ca-configmap: need --webhook-cert-file and --webhook-key-file",
    );
  return {};
}

function authorityOf(flags: WebhookFlags, namespace: string): Pick<WebhookOptions, "authoritySource"> {
  const { "webhook-ca-file": path, "webhook-ca-configmap": name, "webhook-ca-key": key } = flags;
  if (path !== undefined) return { authoritySource: { kind: "file", path } };
  if (name === undefined) return {};
  return { authoritySource: { kind: "configMap", ref: { namespace, name }, key } };
}
