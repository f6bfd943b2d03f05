import type { WebhookOptions } from "@quartermaster/runtime";
import { z } from "zod";

import {
  type FlagTable,
  type FlagValues,
  helpText,
  markdownTable,
  readFlags,
  SettingsError,
} from "./flag-table.ts";
import {
  hostList,
  listOf,
  namespaceName,
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
 * Every flag, in groups; the settings, `--help` and docs/reference/operator.md follow from this table. The groups `subscription` and
 * `search` are options of these domains.
 */
const flags = {
  general: {
    domains: {
      flag: "domains",
      env: "QM_DOMAINS",
      help: `parts of the suite that run, separated by commas: ${domainNames.join(", ")}`,
      // Search clusters need more permissions than the rest together, and licenses are for them: both are opt-in.
      schema: listOf(domainNames).default(["install-plan", "subscription"]),
    },
    roles: {
      flag: "roles",
      env: "QM_ROLES",
      help: `what this replica does, separated by commas: ${roleNames.join(", ")}`,
      schema: listOf(roleNames).default(["controllers"]),
    },
  },
  cluster: {
    kubeconfigPath: {
      flag: "kubeconfig",
      env: "QM_KUBECONFIG",
      help: "file with the cluster's address (default: as kubectl finds it)",
      schema: z.string().exactOptional(),
    },
    context: {
      flag: "context",
      env: "QM_CONTEXT",
      help: "context of the kubeconfig (default: the current one)",
      schema: z.string().exactOptional(),
    },
    insecureSkipTlsVerify: {
      flag: "insecure-skip-tls-verify",
      env: "QM_INSECURE_SKIP_TLS_VERIFY",
      help: "true or false: accept any certificate of the API server",
      schema: trueOrFalse,
    },
  },
  metrics: {
    port: {
      flag: "metrics-port",
      env: "QM_METRICS_PORT",
      help: "for /metrics, /healthz and /readyz",
      schema: portNumber.default(8080),
    },
    host: {
      flag: "metrics-host",
      env: "QM_METRICS_HOST",
      help: "address to listen on (default: all)",
      schema: z.string().exactOptional(),
    },
  },
  work: {
    watchNamespace: {
      flag: "watch-namespace",
      env: "QM_WATCH_NAMESPACE",
      help: "only plans of this namespace (default: all)",
      schema: namespaceName.exactOptional(),
    },
    logLevel: {
      flag: "log-level",
      env: "QM_LOG_LEVEL",
      help: "debug, info, warn or error",
      schema: z.enum(["debug", "info", "warn", "error"]).default("info"),
    },
    concurrency: {
      flag: "concurrency",
      env: "QM_CONCURRENCY",
      help: "plans worked on at the same time",
      schema: wholeNumber.pipe(z.number().int().min(1).max(64)).default(4),
    },
    requireAuthor: {
      flag: "require-author",
      env: "QM_REQUIRE_AUTHOR",
      help: "true or false: do nothing for plans and ClusterBundles whose author is not recorded",
      schema: trueOrFalse,
    },
  },
  webhook: {
    service: {
      flag: "webhook-service",
      env: "QM_WEBHOOK_SERVICE",
      help: "namespace/name of the Service in front of the webhook; both roles need it",
      schema: serviceName.exactOptional(),
    },
    url: {
      flag: "webhook-url",
      env: "QM_WEBHOOK_URL",
      help: "address of a webhook outside the cluster, instead of a Service, e.g. https://10.0.0.1:9443",
      schema: z.url({ protocol: /^https$/ }).exactOptional(),
    },
    namespace: {
      flag: "webhook-namespace",
      env: "QM_WEBHOOK_NAMESPACE",
      help: "namespace of the webhook's certificate authority (default: that of the Service)",
      schema: namespaceName.exactOptional(),
    },
    port: {
      flag: "webhook-port",
      env: "QM_WEBHOOK_PORT",
      help: "where the webhook listens",
      schema: portNumber.default(9443),
    },
    host: {
      flag: "webhook-host",
      env: "QM_WEBHOOK_HOST",
      help: "address where the webhook listens (default: all)",
      schema: z.string().exactOptional(),
    },
    certificatePath: {
      flag: "webhook-cert-file",
      env: "QM_WEBHOOK_CERT_FILE",
      help: "certificate that somebody else renews, e.g. cert-manager (default: the operator issues its own)",
      schema: z.string().exactOptional(),
    },
    keyPath: {
      flag: "webhook-key-file",
      env: "QM_WEBHOOK_KEY_FILE",
      help: "its key",
      schema: z.string().exactOptional(),
    },
    caPath: {
      flag: "webhook-ca-file",
      env: "QM_WEBHOOK_CA_FILE",
      help: "file with the authority of that certificate, e.g. ca.crt of cert-manager (default: none)",
      schema: z.string().exactOptional(),
    },
    caConfigMap: {
      flag: "webhook-ca-configmap",
      env: "QM_WEBHOOK_CA_CONFIGMAP",
      help: "ConfigMap that the platform fills with the authority, instead of a file (default: none)",
      schema: z.string().max(253).exactOptional(),
    },
    caKey: {
      flag: "webhook-ca-key",
      env: "QM_WEBHOOK_CA_KEY",
      help: "key in that ConfigMap",
      schema: z.string().max(253).default("service-ca.crt"),
    },
    clientCaPath: {
      flag: "webhook-client-ca-file",
      env: "QM_WEBHOOK_CLIENT_CA_FILE",
      help: "authority of callers: only those with a certificate of it are answered (default: all are)",
      schema: z.string().exactOptional(),
    },
  },
  replica: {
    leaseNamespace: {
      flag: "lease-namespace",
      env: "QM_LEASE_NAMESPACE",
      help: "namespace of the lease; without one this replica always acts",
      schema: namespaceName.exactOptional(),
    },
    identity: {
      flag: "identity",
      env: "QM_IDENTITY",
      help: "name of this replica in the lease, e.g. its pod (default: random)",
      schema: z.string().exactOptional(),
    },
    podUid: {
      flag: "pod-uid",
      env: "QM_POD_UID",
      help: "UID of the pod that --identity names, for events about it",
      schema: z.string().exactOptional(),
    },
  },
  subscription: {
    configPath: {
      flag: "subscription-config",
      env: "QM_SUBSCRIPTION_CONFIG",
      help: "JSON file with the settings of subscription injection (default: none)",
      schema: z.string().exactOptional(),
    },
  },
  search: {
    engineProxy: {
      flag: "engine-proxy",
      env: "QM_ENGINE_PROXY",
      help: "HTTP proxy to the pods of search clusters, for an operator outside the cluster, e.g. unix:/run/pods.sock or http://10.0.0.1:3128 (default: none)",
      schema: proxyAddress.exactOptional(),
    },
    exporterImage: {
      flag: "search-exporter-image",
      env: "QM_SEARCH_EXPORTER_IMAGE",
      help: "image of the exporter for search clusters that name none (default: quartermaster.local/search-exporter:0.0.0)",
      schema: z.string().min(1).max(1024).exactOptional(),
    },
    snapshotHosts: {
      flag: "snapshot-hosts",
      env: "QM_SNAPSHOT_HOSTS",
      help: "hosts that snapshot repositories may lead search engines to, separated by commas: host, host:port or *.domain, with http:// in front where there is no TLS (default: public object stores, and none for repositories of type url)",
      schema: hostList.exactOptional(),
    },
  },
  licensing: {
    licenseNamespace: {
      flag: "license-namespace",
      env: "QM_LICENSE_NAMESPACE",
      help: "the only namespace whose EnterpriseLicenses are honoured",
      schema: namespaceName.default("quartermaster-licenses"),
    },
    keyPath: {
      flag: "license-key-file",
      env: "QM_LICENSE_KEY_FILE",
      help: "public key of the vendor of licences, PEM (default: none, engines verify signatures)",
      schema: z.string().exactOptional(),
    },
  },
} as const satisfies FlagTable;

type Values = FlagValues<typeof flags>;

type GeneralSettings = Values["general"] & Values["work"];

/** Flags of the webhook, each valid by itself. */
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
