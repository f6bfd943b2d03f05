import type { OperatorRole, WebhookOptions } from "@quartermaster/runtime";
import type { ProxyPlace } from "@quartermaster/search";
import { z } from "zod";

import { engineProxyPlace } from "./engine-proxy-place.ts";
import { readFlags } from "./read-flags.ts";
import { SettingsError } from "./settings-error.ts";
import { snapshotHostList } from "./snapshot-host-list.ts";
import { webhookSettings } from "./webhook-settings.ts";

/** The operator's settings. docs/reference/operator.md lists flags and environment. */
export interface Settings {
  /** Default: as kubectl finds it. */
  readonly kubeconfigPath?: string;
  readonly context?: string;
  /** Any certificate of the API server will do. */
  readonly insecureSkipTlsVerify: boolean;
  /** Only plans of this namespace (default: all). */
  readonly watchNamespace?: string;
  /** Serves /metrics, /healthz and /readyz; 0 takes any free port. */
  readonly metricsPort: number;
  /** Default: all addresses, IPv6 included. */
  readonly metricsHost?: string;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  /** Namespace of the lease; undefined where this replica is the only one. */
  readonly leaseNamespace?: string;
  readonly identity?: string;
  readonly podUid?: string;
  /** Parts of the suite that run. */
  readonly domains: readonly DomainName[];
  /** What this replica does. */
  readonly roles: readonly OperatorRole[];
  /** How the API server reaches our webhooks; undefined where there are none. */
  readonly webhook?: WebhookOptions;
  /** File with the authority of the webhook's callers (default: everybody is answered). */
  readonly webhookClientCaPath?: string;
  /** Plans worked on at the same time. */
  readonly concurrency: number;
  /** Nothing is done for plans whose author is not recorded. */
  readonly requireAuthor: boolean;
  /** File with the settings of subscription injection (default: none, every setting has a default). */
  readonly subscriptionConfigPath?: string;
  /** Through which search engines are reached (default: none, pods are dialled). */
  readonly engineProxy?: ProxyPlace;
  /** Image of the exporter for search clusters that name none. */
  readonly searchExporterImage?: string;
  /** Hosts that snapshot repositories may lead engines to (default: object stores; none for type url). */
  readonly snapshotHosts?: readonly string[];
  /** The only namespace whose EnterpriseLicenses are honoured. */
  readonly licenseNamespace: string;
  /** File with the vendor's key (default: signatures are verified by engines alone). */
  readonly licenseKeyPath?: string;
  readonly isHelpWanted: boolean;
}

const domainNames = ["install-plan", "licensing", "search", "subscription"] as const;
/** Search clusters need more permissions than the rest together, and licences are for them: who wants them asks for them. */
const defaultDomains = ["install-plan", "subscription"] as const satisfies readonly DomainName[];
const roleNames = ["controllers", "webhook"] as const;

/** A part of the suite, as `--domains` names it. */
export type DomainName = (typeof domainNames)[number];

/** Each flag with the variable that replaces it. Flags win. */
const options = {
  domains: {
    variable: "QM_DOMAINS",
    about: `parts of the suite that run, separated by commas: ${domainNames.join(", ")} (default: ${defaultDomains.join(",")})`,
  },
  roles: {
    variable: "QM_ROLES",
    about: `what this replica does, separated by commas: ${roleNames.join(", ")} (default: controllers)`,
  },
  kubeconfig: {
    variable: "QM_KUBECONFIG",
    about: "file with the cluster's address (default: as kubectl finds it)",
  },
  context: { variable: "QM_CONTEXT", about: "context of the kubeconfig (default: the current one)" },
  "insecure-skip-tls-verify": {
    variable: "QM_INSECURE_SKIP_TLS_VERIFY",
    about: "true or false: accept any certificate of the API server (default: false)",
  },
  "watch-namespace": {
    variable: "QM_WATCH_NAMESPACE",
    about: "only plans of this namespace (default: all)",
  },
  "metrics-port": {
    variable: "QM_METRICS_PORT",
    about: "for /metrics, /healthz and /readyz (default: 8080)",
  },
  "metrics-host": { variable: "QM_METRICS_HOST", about: "address to listen on (default: all)" },
  "webhook-service": {
    variable: "QM_WEBHOOK_SERVICE",
    about: "namespace/name of the Service in front of the webhook; both roles need it",
  },
  "webhook-url": {
    variable: "QM_WEBHOOK_URL",
    about: "address of a webhook outside the cluster, instead of a Service, e.g. https://10.0.0.1:9443",
  },
  "webhook-namespace": {
    variable: "QM_WEBHOOK_NAMESPACE",
    about: "namespace of the webhook's certificate authority (default: that of the Service)",
  },
  "webhook-port": { variable: "QM_WEBHOOK_PORT", about: "where the webhook listens (default: 9443)" },
  "webhook-host": { variable: "QM_WEBHOOK_HOST", about: "address where the webhook listens (default: all)" },
  "webhook-cert-file": {
    variable: "QM_WEBHOOK_CERT_FILE",
    about: "certificate that somebody else renews, e.g. cert-manager (default: the operator issues its own)",
  },
  "webhook-key-file": { variable: "QM_WEBHOOK_KEY_FILE", about: "its key" },
  "webhook-ca-file": {
    variable: "QM_WEBHOOK_CA_FILE",
    about: "file with the authority of that certificate, e.g. ca.crt of cert-manager (default: none)",
  },
  "webhook-ca-configmap": {
    variable: "QM_WEBHOOK_CA_CONFIGMAP",
    about: "ConfigMap that the platform fills with the authority, instead of a file (default: none)",
  },
  "webhook-ca-key": {
    variable: "QM_WEBHOOK_CA_KEY",
    about: "key in that ConfigMap (default: service-ca.crt)",
  },
  "webhook-client-ca-file": {
    variable: "QM_WEBHOOK_CLIENT_CA_FILE",
    about: "authority of callers: only those with a certificate of it are answered (default: all are)",
  },
  "log-level": { variable: "QM_LOG_LEVEL", about: "debug, info, warn or error (default: info)" },
  "lease-namespace": {
    variable: "QM_LEASE_NAMESPACE",
    about: "namespace of the lease; without one this replica always acts",
  },
  identity: {
    variable: "QM_IDENTITY",
    about: "name of this replica in the lease, e.g. its pod (default: random)",
  },
  "pod-uid": { variable: "QM_POD_UID", about: "UID of the pod that --identity names, for events about it" },
  concurrency: { variable: "QM_CONCURRENCY", about: "plans worked on at the same time (default: 4)" },
  "require-author": {
    variable: "QM_REQUIRE_AUTHOR",
    about:
      "true or false: do nothing for plans and ClusterBundles whose author is not recorded (default: false)",
  },
  "subscription-config": {
    variable: "QM_SUBSCRIPTION_CONFIG",
    about: "JSON file with the settings of subscription injection (default: none)",
  },
  "engine-proxy": {
    variable: "QM_ENGINE_PROXY",
    about:
      "HTTP proxy to the pods of search clusters, for an operator outside the cluster, e.g. unix:/run/pods.sock or http://10.0.0.1:3128 (default: none)",
  },
  "search-exporter-image": {
    variable: "QM_SEARCH_EXPORTER_IMAGE",
    about:
      "image of the exporter for search clusters that name none (default: quartermaster.local/search-exporter:0.0.0)",
  },
  "snapshot-hosts": {
    variable: "QM_SNAPSHOT_HOSTS",
    about:
      "hosts that snapshot repositories may lead search engines to, separated by commas: host, host:port or *.domain, with http:// in front where there is no TLS (default: public object stores, and none for repositories of type url)",
  },
  "license-namespace": {
    variable: "QM_LICENSE_NAMESPACE",
    about: "the only namespace whose EnterpriseLicenses are honoured (default: quartermaster-licenses)",
  },
  "license-key-file": {
    variable: "QM_LICENSE_KEY_FILE",
    about: "public key of the vendor of licences, PEM (default: none, engines verify signatures)",
  },
} as const;

/** Digits alone: `0x10` and `1e3` are slips, not numbers. */
const wholeNumber = z
  .string()
  .regex(/^-?\d+$/, "must be a whole number")
  .transform(Number);

const namespaceName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, "must be the name of a namespace");

function listOf<const N extends readonly [string, ...string[]]>(names: N): z.ZodType<N[number][], string> {
  return z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(z.enum(names)));
}

const portNumber = wholeNumber.pipe(z.number().int().min(0).max(65_535));

const serviceName = z
  .string()
  .regex(/^[a-z0-9-]{1,63}\/[a-z0-9-]{1,63}$/, "must be a namespace and a name, e.g. quartermaster/webhook");

const shape = z.object({
  domains: listOf(domainNames).default([...defaultDomains]),
  roles: listOf(roleNames).default(["controllers"]),
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  "insecure-skip-tls-verify": z
    .enum(["true", "false"])
    .default("false")
    .transform((value) => value === "true"),
  "watch-namespace": namespaceName.optional(),
  "metrics-port": portNumber.default(8080),
  "metrics-host": z.string().optional(),
  "webhook-service": serviceName.optional(),
  "webhook-url": z.url({ protocol: /^https$/ }).optional(),
  "webhook-namespace": namespaceName.optional(),
  "webhook-port": portNumber.default(9443),
  "webhook-host": z.string().optional(),
  "webhook-cert-file": z.string().optional(),
  "webhook-key-file": z.string().optional(),
  "webhook-ca-file": z.string().optional(),
  "webhook-ca-configmap": z.string().max(253).optional(),
  "webhook-ca-key": z.string().max(253).default("service-ca.crt"),
  "webhook-client-ca-file": z.string().optional(),
  "log-level": z.enum(["debug", "info", "warn", "error"]).default("info"),
  "lease-namespace": namespaceName.optional(),
  identity: z.string().optional(),
  "pod-uid": z.string().optional(),
  concurrency: wholeNumber.pipe(z.number().int().min(1).max(64)).default(4),
  "require-author": z
    .enum(["true", "false"])
    .default("false")
    .transform((value) => value === "true"),
  "subscription-config": z.string().optional(),
  "engine-proxy": engineProxyPlace.optional(),
  "search-exporter-image": z.string().min(1).max(1024).optional(),
  "snapshot-hosts": snapshotHostList.optional(),
  "license-namespace": namespaceName.default("quartermaster-licenses"),
  "license-key-file": z.string().optional(),
});

/** Reads flags and environment once. Throws SettingsError that names every flag in fault. */
export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  const flags = readFlags(args, Object.keys(options));
  const given = Object.fromEntries(
    Object.entries(options).map(([name, { variable }]) => [name, flags.values[name] ?? said(env[variable])]),
  );
  const parsed = shape.safeParse(given);
  if (!parsed.success)
    throw new SettingsError(
      parsed.error.issues.map(({ path, message }) => `--${path.join(".")}: ${message}`).join("; "),
    );
  const { data } = parsed;
  const webhook = webhookSettings(data);
  if (webhook === undefined && data.roles.includes("webhook"))
    throw new SettingsError(
      "--roles: webhook needs --webhook-service, or --webhook-url and --webhook-namespace",
    );
  return {
    ...(webhook === undefined ? {} : { webhook }),
    roles: data.roles,
    ...optional("kubeconfigPath", data.kubeconfig),
    ...optional("context", data.context),
    ...optional("watchNamespace", data["watch-namespace"]),
    ...optional("leaseNamespace", data["lease-namespace"]),
    ...optional("identity", data.identity),
    ...optional("podUid", data["pod-uid"]),
    ...optional("metricsHost", data["metrics-host"]),
    ...optional("subscriptionConfigPath", data["subscription-config"]),
    ...optional("licenseKeyPath", data["license-key-file"]),
    ...optional("searchExporterImage", data["search-exporter-image"]),
    licenseNamespace: data["license-namespace"],
    ...(data["snapshot-hosts"] === undefined ? {} : { snapshotHosts: data["snapshot-hosts"] }),
    ...optional("webhookClientCaPath", data["webhook-client-ca-file"]),
    ...(data["engine-proxy"] === undefined ? {} : { engineProxy: data["engine-proxy"] }),
    insecureSkipTlsVerify: data["insecure-skip-tls-verify"],
    domains: data.domains,
    metricsPort: data["metrics-port"],
    logLevel: data["log-level"],
    concurrency: data.concurrency,
    requireAuthor: data["require-author"],
    isHelpWanted: flags.isHelpWanted,
  };
}

/** A variable that is set to nothing, as manifests do, is not set. */
function said(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

/** The flags as a table for people. */
export function describeSettings(): string {
  const lines = Object.entries(options).map(
    ([name, { variable, about }]) => `  --${name.padEnd(24)} ${variable.padEnd(27)} ${about}`,
  );
  return ["Usage: quartermaster-operator [flags]", "", ...lines, ""].join("\n");
}

function optional<K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a record of the one key
  return (value === undefined || value === "" ? {} : { [key]: value }) as Partial<Record<K, string>>;
}
