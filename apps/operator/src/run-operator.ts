import { readFileSync } from "node:fs";

import {
  createLog,
  type Domain,
  type Log,
  run,
  type RunOptions,
  type System,
  type WebhookOptions,
} from "@quartermaster/runtime";

import { allDomains } from "./all-domains.ts";
import { readLicensingConfig } from "./licensing-config.ts";
import { SettingsError } from "./settings-error.ts";
import type { Settings } from "./settings.ts";
import { readSubscriptionConfig } from "./subscription-config.ts";

/** What the operator runs in. */
export interface Environment {
  readonly system: System;
  readonly log?: Log;
}

/** The domains that the settings choose, until asked to stop. */
export async function runOperator(
  settings: Settings,
  { system, log = createLog({ level: settings.logLevel }) }: Environment,
): Promise<void> {
  const { metricsPort, metricsHost, watchNamespace, concurrency, roles, webhook } = settings;
  try {
    await run({
      name: "quartermaster",
      userAgent: "quartermaster-operator",
      domains: domainsOf(settings),
      roles,
      ...(webhook === undefined ? {} : { webhook: { ...webhook, ...callersOf(settings) } }),
      config: clusterOf(settings),
      ...leaseOf(settings),
      ...(watchNamespace === undefined ? {} : { namespace: watchNamespace }),
      concurrency,
      port: metricsPort,
      ...(metricsHost === undefined ? {} : { host: metricsHost }),
      system,
      log,
    });
  } catch (error) {
    throw isListenError(error) ? addressTaken(error, settings) : error;
  }
}

/** Who is answered. Read once: the authority of the API server's client certificate seldom changes. */
function callersOf({ webhookClientCaPath: path }: Settings): Pick<WebhookOptions, "callerAuthoritiesPem"> {
  if (path === undefined) return {};
  try {
    return { callerAuthoritiesPem: readFileSync(path, "utf8") };
  } catch (error) {
    throw new SettingsError(`--webhook-client-ca-file: ${path} cannot be read`, { cause: error });
  }
}

function clusterOf({
  insecureSkipTlsVerify,
  kubeconfigPath,
  context,
}: Settings): RunOptions["config"] & object {
  return {
    insecureSkipTlsVerify,
    ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
    ...(context === undefined ? {} : { context }),
  };
}

function leaseOf({
  leaseNamespace,
  identity,
  podUid,
}: Settings): Pick<RunOptions, "lease" | "identity" | "pod"> {
  const isPod = leaseNamespace !== undefined && identity !== undefined && podUid !== undefined;
  return {
    ...(leaseNamespace === undefined ? {} : { lease: { namespace: leaseNamespace } }),
    ...(identity === undefined ? {} : { identity }),
    ...(isPod ? { pod: { namespace: leaseNamespace, name: identity, uid: podUid } } : {}),
  };
}

function domainsOf(settings: Settings): readonly Domain[] {
  const { domains, roles, requireAuthor, subscriptionConfigPath, webhook, leaseNamespace } = settings;
  const { engineProxy, searchExporterImage, snapshotHosts } = settings;
  const operatorNamespace = webhook?.namespace ?? leaseNamespace;
  const all = allDomains({
    requireAuthor,
    search: {
      ...(engineProxy === undefined ? {} : { engineProxy }),
      ...(searchExporterImage === undefined ? {} : { exporterImage: searchExporterImage }),
      ...(snapshotHosts === undefined ? {} : { snapshotHosts }),
      ...(leaseNamespace === undefined ? {} : { operatorNamespace: leaseNamespace }),
    },
    licensing: readLicensingConfig(settings),
    subscription: {
      settings: readSubscriptionConfig(subscriptionConfigPath),
      requireAuthor,
      ...(operatorNamespace === undefined ? {} : { operatorNamespace }),
    },
  });
  const chosen = domains.map((name) => all[name]);
  if (roles.includes("webhook") && !chosen.some((domain) => "webhooks" in domain))
    throw new SettingsError(`--roles: none of the domains ${domains.join(", ")} has a webhook`);
  return chosen;
}

interface ListenError extends Error {
  readonly code: string;
  readonly port?: number;
}

function isListenError(error: unknown): error is ListenError {
  return error instanceof Error && "syscall" in error && error.syscall === "listen" && "code" in error;
}

/** A port that is taken, or an address that is not ours, is a mistake in the flags. */
function addressTaken(error: ListenError, settings: Settings): SettingsError {
  const { metricsPort, metricsHost, webhook } = settings;
  const isWebhook = error.port === webhook?.port && error.port !== metricsPort;
  const [flags, host] = isWebhook ? ["webhook", webhook?.host] : ["metrics", metricsHost];
  const place = `${host ?? "all addresses"}, port ${isWebhook ? webhook?.port : metricsPort} (${error.code})`;
  return new SettingsError(`--${flags}-host, --${flags}-port: cannot listen on ${place}; choose another`, {
    cause: error,
  });
}
