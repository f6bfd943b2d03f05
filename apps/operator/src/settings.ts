import type { WebhookOptions } from "@quartermaster/runtime";
import { z } from "zod";

import {
  flagRow,
  type FlagTable,
  type FlagValues,
  helpText,
  markdownTable,
  readFlags,
  SettingsError,
} from "./flag-table.ts";
import {
  domainName,
  hostList,
  listOf,
  namespaceName,
  optionalText,
  portNumber,
  proxyAddress,
  serviceName,
  trueOrFalse,
  wholeNumber,
} from "./flag-value.ts";
import { webhookOptions } from "./webhook-options.ts";

const domainNames = ["install-plan", "licensing", "search", "subscription"] as const;
const roleNames = ["controllers", "webhook"] as const;

/** A domain, as `--domains` names it. */
export type DomainName = (typeof domainNames)[number];

/**
 * Every flag, in groups; the settings, `--help` and docs/reference/operator.md follow from this table. The group `search` is passed to
 * that domain as it is: its rows have the names of the domain's options.
 */
const flags = {
  general: {
    // Search clusters need more permissions than the rest together, and licenses are for them: both are opt-in.
    domains: flagRow(
      "domains",
      `parts of the suite that run, separated by commas: ${domainNames.join(", ")}`,
      listOf(domainNames).default(["install-plan", "subscription"]),
    ),
    roles: flagRow(
      "roles",
      `what this replica does, separated by commas: ${roleNames.join(", ")}`,
      listOf(roleNames).default(["controllers"]),
    ),
  },
  cluster: {
    kubeconfigPath: flagRow(
      "kubeconfig",
      "file with the cluster's address (default: as kubectl finds it)",
      optionalText,
    ),
    context: flagRow("context", "context of the kubeconfig (default: the current one)", optionalText),
    insecureSkipTlsVerify: flagRow(
      "insecure-skip-tls-verify",
      "true or false: accept any certificate of the API server",
      trueOrFalse,
    ),
  },
  metrics: {
    port: flagRow("metrics-port", "for /metrics, /healthz and /readyz", portNumber.default(8080)),
    host: flagRow("metrics-host", "address to listen on (default: all)", optionalText),
  },
  work: {
    watchNamespace: flagRow(
      "watch-namespace",
      "only plans of this namespace (default: all)",
      namespaceName.exactOptional(),
    ),
    logLevel: flagRow(
      "log-level",
      "debug, info, warn or error",
      z.enum(["debug", "info", "warn", "error"]).default("info"),
    ),
    concurrency: flagRow(
      "concurrency",
      "plans worked on at the same time",
      wholeNumber.pipe(z.number().int().min(1).max(64)).default(4),
    ),
    requireAuthor: flagRow(
      "require-author",
      "true or false: do nothing for plans and ClusterBundles whose author is not recorded",
      trueOrFalse,
    ),
    requirePolicies: flagRow(
      "require-policies",
      "true or false: do nothing while admission policies of Quartermaster are missing in the cluster",
      trueOrFalse,
    ),
  },
  webhook: {
    service: flagRow(
      "webhook-service",
      "namespace/name of the Service in front of the webhook; both roles need it",
      serviceName.exactOptional(),
    ),
    url: flagRow(
      "webhook-url",
      "address of a webhook outside the cluster, instead of a Service, e.g. https://10.0.0.1:9443",
      z.url({ protocol: /^https$/ }).exactOptional(),
    ),
    namespace: flagRow(
      "webhook-namespace",
      "namespace of the webhook's CA (default: that of the Service)",
      namespaceName.exactOptional(),
    ),
    port: flagRow("webhook-port", "where the webhook listens", portNumber.default(9443)),
    host: flagRow("webhook-host", "address where the webhook listens (default: all)", optionalText),
    certificatePath: flagRow(
      "webhook-cert-file",
      "certificate that another program renews, e.g. cert-manager (default: the operator issues its own)",
      optionalText,
    ),
    keyPath: flagRow("webhook-key-file", "its key", optionalText),
    caPath: flagRow(
      "webhook-ca-file",
      "file with the CA of that certificate, e.g. ca.crt of cert-manager (default: none)",
      optionalText,
    ),
    caConfigMap: flagRow(
      "webhook-ca-configmap",
      "ConfigMap that the platform fills with the CA, instead of a file (default: none)",
      z.string().max(253).exactOptional(),
    ),
    caKey: flagRow("webhook-ca-key", "key in that ConfigMap", z.string().max(253).default("service-ca.crt")),
    clientCaPath: flagRow(
      "webhook-client-ca-file",
      "CA of callers: only those with a certificate of it are served (default: all are)",
      optionalText,
    ),
  },
  replica: {
    leaseNamespace: flagRow(
      "lease-namespace",
      "namespace of the lease; without one this replica always acts",
      namespaceName.exactOptional(),
    ),
    identity: flagRow(
      "identity",
      "name of this replica in the lease, e.g. its pod (default: random)",
      optionalText,
    ),
    podUid: flagRow("pod-uid", "UID of the pod that --identity names, for events about it", optionalText),
  },
  subscription: {
    configPath: flagRow(
      "subscription-config",
      "JSON file with the settings of subscription injection (default: none)",
      optionalText,
    ),
  },
  search: {
    engineProxy: flagRow(
      "engine-proxy",
      "HTTP proxy to the pods of search clusters, for an operator outside the cluster, e.g. unix:/run/pods.sock or http://10.0.0.1:3128 (default: none)",
      proxyAddress.exactOptional(),
    ),
    exporterImage: flagRow(
      "search-exporter-image",
      "image of the exporter for search clusters that name none (default: quartermaster.local/search-exporter:0.0.0)",
      z.string().min(1).max(1024).exactOptional(),
    ),
    clusterDomain: flagRow(
      "cluster-domain",
      "domain of Services in this Kubernetes cluster, for names in certificates of search clusters (default: cluster.local)",
      domainName.exactOptional(),
    ),
    snapshotHosts: flagRow(
      "snapshot-hosts",
      "hosts that snapshot repositories may lead search engines to, separated by commas: host, host:port or *.domain, with http:// in front where there is no TLS (default: public object stores, and none for repositories of type url)",
      hostList.exactOptional(),
    ),
  },
  licensing: {
    licenseNamespace: flagRow(
      "license-namespace",
      "the only namespace whose EnterpriseLicenses are honoured",
      namespaceName.default("quartermaster-licenses"),
    ),
    keyPath: flagRow(
      "license-key-file",
      "public key of the vendor of licenses, PEM (default: none, engines verify signatures)",
      optionalText,
    ),
  },
} as const satisfies FlagTable;

type Values = FlagValues<typeof flags>;

type GeneralSettings = Values["general"] & Values["work"];

/** Flags of the webhook, each valid on its own. */
export type WebhookFlags = Values["webhook"];

/** The operator's settings: the values of the flags. */
export interface Settings extends GeneralSettings, Omit<Values, "general" | "work" | "webhook"> {
  /** How the API server reaches our webhooks; undefined where there are none. */
  readonly webhook?: WebhookOptions | undefined;
  /** File with the CA of the webhook's callers (default: every caller gets a response). */
  readonly webhookClientCaPath?: string | undefined;
  readonly isHelpWanted: boolean;
}

/** Reads flags and environment once. Throws SettingsError that names every invalid flag. */
export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  const { values, isHelpWanted } = readFlags(flags, { args, env });
  const { general, work, webhook: webhookFlags, ...groups } = values;
  const webhook = webhookOptions(webhookFlags);
  if (webhook === undefined && general.roles.includes("webhook"))
    throw new SettingsError(
      "--roles: webhook needs --webhook-service, or --webhook-url and --webhook-namespace",
    );
  return {
    ...general,
    ...work,
    ...groups,
    webhook,
    webhookClientCaPath: webhookFlags.clientCaPath,
    isHelpWanted,
  };
}

/** The flags as `--help` prints them. */
export function describeSettings(): string {
  return helpText("quartermaster-operator", flags);
}

/** The flags as docs/reference/operator.md lists them. */
export function settingsTable(): string {
  return markdownTable(flags);
}
