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
import type { Settings } from "./settings.ts";

/** What the operator runs in. */
export interface Surroundings {
  readonly system: System;
  /** Aborts when the operator is to end. */
  readonly stop: AbortSignal;
  readonly log?: Log;
}

/** Config, manager, domains, until told to stop. */
export async function runOperator(
  settings: Settings,
  { system, stop, log = createLog({ level: settings.logLevel }) }: Surroundings,
): Promise<void> {
  const { kubeconfigPath, context, metricsPort, metricsHost } = settings;
  const config = await loadConfig({
    system,
    ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
    ...(context === undefined ? {} : { context }),
  });
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
    host: metricsHost,
    health: { stopping: () => !manager.health().isStopping },
    readiness: { stores: () => manager.health().isReady },
    log,
  });
  await using plans = manager.informers.acquire(plansOf(settings));
  const port = await server.listen();
  manager.start();
  log.info("operator started", { server: config.server, metricsPort: port });
  await ended(stop);
  log.info("operator stops");
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
  { watchNamespace, concurrency }: Settings,
  { transport, system, observer }: ControllerParts,
): readonly Controller[] {
  return installPlanControllers({
    system,
    discovery: new Discovery(transport, system),
    concurrency,
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
