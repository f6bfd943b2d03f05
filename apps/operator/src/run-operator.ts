import { installPlanController } from "@quartermaster/install-plan";
import {
  type ClusterConfig,
  createClient,
  createLog,
  createManager,
  createMetrics,
  createTransport,
  Discovery,
  LeaseElector,
  loadConfig,
  type Log,
  type ManagerOptions,
  type System,
  TelemetryServer,
  type Transport,
} from "@quartermaster/runtime";

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
  const { kubeconfigPath, context, watchNamespace, concurrency } = settings;
  const config = await loadConfig({
    system,
    ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
    ...(context === undefined ? {} : { context }),
  });
  const metrics = createMetrics({ system, controllers: [{ name: "installplans" }] });
  await using transport = createTransport({
    config,
    system,
    userAgent: "quartermaster-operator",
    observe: metrics.observe,
  });
  const controllers = [
    installPlanController({
      system,
      discovery: new Discovery(transport, system),
      concurrency,
      ...(watchNamespace === undefined ? {} : { namespace: watchNamespace }),
    }),
  ];
  const election = electionFor(settings, { config, transport, system, log });
  await using manager = createManager({
    transport,
    system,
    controllers,
    log,
    telemetry: metrics.telemetry,
    ...election,
  });
  await using telemetry = new TelemetryServer({
    system,
    metrics,
    port: settings.metricsPort,
    host: settings.metricsHost,
    health: { stopping: () => !manager.health().isStopping },
    readiness: { stores: () => manager.health().isReady },
    log,
  });
  const metricsPort = await telemetry.listen();
  manager.start();
  log.info("operator started", { server: config.server, metricsPort, watchNamespace });
  await ended(stop);
  log.info("operator stops");
}

interface ElectionParts {
  readonly config: ClusterConfig;
  readonly transport: Transport;
  readonly system: System;
  readonly log: Log;
}

function electionFor(
  { leaseNamespace, identity }: Settings,
  { transport, system, log }: ElectionParts,
): Pick<ManagerOptions, "leaderElection" | "instance"> {
  if (leaseNamespace === undefined) return {};
  const instance = identity ?? `quartermaster-${system.uuid()}`;
  const leaderElection = new LeaseElector({
    client: createClient({ transport }),
    system,
    lease: { namespace: leaseNamespace, name: "quartermaster" },
    identity: instance,
    log,
  });
  return { leaderElection, instance };
}

async function ended(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return;
  await new Promise((resolve) => {
    stop.addEventListener("abort", resolve, { once: true });
  });
}
