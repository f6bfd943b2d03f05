import { readFileSync } from "node:fs";

import {
  createLog,
  type Domain,
  type Log,
  type Prerequisites,
  run,
  type RunOptions,
  type System,
  type WebhookOptions,
} from "@quartermaster/runtime";

import { allDomains } from "./all-domains.ts";
import { SettingsError } from "./flag-table.ts";
import { installationCheck } from "./installation/installation-check.ts";
import { readLicensingConfig, readSubscriptionConfig } from "./read-config.ts";
import type { Settings } from "./settings.ts";

export interface Environment {
  readonly system: System;
  readonly log?: Log;
}

/** The domains that the settings choose, until asked to stop. */
export async function runOperator(
  settings: Settings,
  { system, log = createLog({ level: settings.logLevel }) }: Environment,
): Promise<void> {
  const { cluster, metrics, watchNamespace, concurrency, roles, webhook } = settings;
  try {
    await run({
      name: "quartermaster",
      userAgent: "quartermaster-operator",
      domains: domainsOf(settings),
      roles,
      prerequisites: prerequisitesOf(settings, log),
      ...(webhook === undefined ? {} : { webhook: { ...webhook, ...callersOf(settings) } }),
      config: cluster,
      ...leaseOf(settings.replica),
      ...(watchNamespace === undefined ? {} : { namespace: watchNamespace }),
      concurrency,
      ...metrics,
      system,
      log,
    });
  } catch (error) {
    throw isListenError(error) ? addressTaken(error, settings) : error;
  }
}

/** The warning comes with the first check, because a mistake in the flags is reported in one line. */
function prerequisitesOf(settings: Settings, log: Log): Prerequisites {
  const { watchNamespace, requirePolicies, replica } = settings;
  const isClusterWide = watchNamespace === undefined;
  const check = installationCheck({ ...settings, namespace: replica.leaseNamespace, isClusterWide });
  let isWarned = requirePolicies;
  return {
    ...check,
    problemsIn: (stores) => {
      if (!isWarned)
        log.warn(
          "admission policies are not required: tenants may forge authors and statuses where they are missing",
        );
      isWarned = true;
      return check.problemsIn(stores);
    },
  };
}

/** The CA of clients that are served. Read once: the CA of the API server's client certificate seldom changes. */
function callersOf({ webhookClientCaPath: path }: Settings): Pick<WebhookOptions, "callerCaPem"> {
  if (path === undefined) return {};
  try {
    return { callerCaPem: readFileSync(path, "utf8") };
  } catch (error) {
    throw new SettingsError(`--webhook-client-ca-file: ${path} cannot be read`, { cause: error });
  }
}

function leaseOf({
  leaseNamespace,
  identity,
  podUid,
}: Settings["replica"]): Pick<RunOptions, "lease" | "identity" | "pod"> {
  const isPod = leaseNamespace !== undefined && identity !== undefined && podUid !== undefined;
  return {
    ...(leaseNamespace === undefined ? {} : { lease: { namespace: leaseNamespace } }),
    ...(identity === undefined ? {} : { identity }),
    ...(isPod ? { pod: { namespace: leaseNamespace, name: identity, uid: podUid } } : {}),
  };
}

function domainsOf(settings: Settings): readonly Domain[] {
  const { domains, roles, requireAuthor, webhook } = settings;
  const { leaseNamespace } = settings.replica;
  const operatorNamespace = webhook?.namespace ?? leaseNamespace;
  const all = allDomains({
    requireAuthor,
    search: {
      ...settings.search,
      ...(leaseNamespace === undefined ? {} : { operatorNamespace: leaseNamespace }),
    },
    licensing: readLicensingConfig(settings.licensing),
    subscription: {
      settings: readSubscriptionConfig(settings.subscription),
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
  const { metrics, webhook } = settings;
  const isWebhook = webhook !== undefined && error.port === webhook.port && error.port !== metrics.port;
  const flags = isWebhook ? "webhook" : "metrics";
  const { host, port } = isWebhook ? webhook : metrics;
  const address = `${host ?? "all addresses"}, port ${port} (${error.code})`;
  return new SettingsError(`--${flags}-host, --${flags}-port: cannot listen on ${address}; choose another`, {
    cause: error,
  });
}
