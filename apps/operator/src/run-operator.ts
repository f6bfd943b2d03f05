import { installPlanDomain } from "@quartermaster/install-plan";
import { createLog, type Domain, type Log, run, type System } from "@quartermaster/runtime";

import { type Settings, SettingsError } from "./settings.ts";

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
  const { kubeconfigPath, context, insecureSkipTlsVerify, metricsPort, metricsHost } = settings;
  const { leaseNamespace, identity, watchNamespace, concurrency } = settings;
  try {
    await run({
      name: "quartermaster",
      userAgent: "quartermaster-operator",
      domains: domainsOf(settings),
      config: {
        insecureSkipTlsVerify,
        ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
        ...(context === undefined ? {} : { context }),
      },
      ...(leaseNamespace === undefined ? {} : { lease: { namespace: leaseNamespace } }),
      ...(identity === undefined ? {} : { identity }),
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

function domainsOf({ domains, requireAuthor }: Settings): readonly Domain[] {
  const all = { "install-plan": installPlanDomain({ requireAuthor }) };
  return domains.map((name) => all[name]);
}

function isListenError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "syscall" in error && error.syscall === "listen" && "code" in error;
}

/** A port that is taken, or an address that is not ours, is a mistake in the flags. */
function addressTaken(
  error: Error & { readonly code: string },
  { metricsPort, metricsHost = "all addresses" }: Settings,
): SettingsError {
  const place = `${metricsHost}, port ${metricsPort} (${error.code})`;
  return new SettingsError(`--metrics-host, --metrics-port: cannot listen on ${place}; choose another`, {
    cause: error,
  });
}
