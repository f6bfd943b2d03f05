import { installPlan, type InstallPlan } from "@quartermaster/api";
import { installPlanControllers, type PlanObserver } from "@quartermaster/install-plan";
import {
  type Controller,
  createLog,
  createManager,
  createTransport,
  Discovery,
  type InformerRequest,
  loadConfig,
  type Log,
  type System,
  TelemetryServer,
  type Transport,
} from "@quartermaster/runtime";

import { electionFor } from "./election.ts";
import { operatorMetrics } from "./operator-metrics.ts";
import { planMetrics } from "./plan-metrics.ts";
import { type Settings, SettingsError } from "./settings.ts";

/** What the operator runs in. */
export interface Environment {
  readonly system: System;
  /** Aborts when the operator is to end. */
  readonly stop: AbortSignal;
  readonly log?: Log;
}

/** Config, manager, domains, until asked to stop. */
export async function runOperator(
  settings: Settings,
  { system, stop, log = createLog({ level: settings.logLevel }) }: Environment,
): Promise<void> {
  const { kubeconfigPath, context, insecureSkipTlsVerify, metricsPort, metricsHost } = settings;
  const config = await loadConfig({
    system,
    insecureSkipTlsVerify,
    ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
    ...(context === undefined ? {} : { context }),
  });
  if (config.tls.insecure) log.warn("tls verification is switched off", { server: config.server });
  const metrics = operatorMetrics(settings, system);
  const { observe, observeRetry, telemetry } = metrics;
  await using transport = createTransport({ config, system, userAgent, observe, observeRetry });
  const observer = planMetrics(metrics.series, () => plans.store.list());
  await using manager = createManager({
    transport,
    system,
    log,
    telemetry,
    controllers: controllersFor(settings, { transport, system, observer }),
    ...electionFor(settings, { transport, system, log, observer: metrics.leases }),
  });
  await using server = new TelemetryServer({
    system,
    metrics,
    port: metricsPort,
    ...(metricsHost === undefined ? {} : { host: metricsHost }),
    health: { stopping: () => !manager.health().isStopping },
    readiness: { stores: () => manager.health().isReady },
    log,
  });
  await using plans = manager.informers.acquire(plansOf(settings));
  const port = await listening(server, settings);
  manager.start();
  log.info("operator started", { server: config.server, metricsPort: port });
  await ended(stop);
  log.info("operator stops");
}

/** A port that is taken, or an address that is not ours, is a matter of the flags. */
async function listening(
  server: TelemetryServer,
  { metricsPort, metricsHost = "all addresses" }: Settings,
): Promise<number> {
  try {
    return await server.listen();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new SettingsError(
      `--metrics-host, --metrics-port: cannot listen on ${metricsHost}, port ${metricsPort} (${code}); choose another`,
      { cause: error },
    );
  }
}

const userAgent = "quartermaster-operator";

/** Which plans are ours; the same request as the controller's, so that both share one watch. */
function plansOf({ watchNamespace }: Settings): InformerRequest<InstallPlan> {
  return { kind: installPlan.kind, ...(watchNamespace === undefined ? {} : { namespace: watchNamespace }) };
}

interface ControllerParts {
  readonly transport: Transport;
  readonly system: System;
  readonly observer: PlanObserver;
}

function controllersFor(
  { watchNamespace, concurrency, requireAuthor }: Settings,
  { transport, system, observer }: ControllerParts,
): readonly Controller[] {
  return installPlanControllers({
    system,
    discovery: new Discovery(transport, system),
    concurrency,
    requireAuthor,
    observer,
    ...(watchNamespace === undefined ? {} : { namespace: watchNamespace }),
  });
}

async function ended(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return;
  await new Promise((resolve) => {
    stop.addEventListener("abort", resolve, { once: true });
  });
}
