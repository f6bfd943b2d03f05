import { createClient } from "../client/create-client.ts";
import { loadConfig, type LoadConfigOptions } from "../config/load-config.ts";
import type { Controller } from "../controller/define-controller.ts";
import { LeaseElector } from "../leader/lease-elector.ts";
import { createManager, type Manager, type ManagerOptions } from "../manager/manager.ts";
import type { OffPart } from "../manager/off-parts.ts";
import { GatedElector } from "../prerequisites/gated-elector.ts";
import type { Prerequisites } from "../prerequisites/prerequisites.ts";
import type { Log } from "../reconcile/log.ts";
import { realSystem } from "../system/real-system.ts";
import type { System } from "../system/system.ts";
import { aborted, terminationSignal } from "../system/termination.ts";
import { createLog } from "../telemetry/create-log.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { TelemetryServer } from "../telemetry/telemetry-server.ts";
import { createTransport, type Transport } from "../transport/transport.ts";
import type { Domain, DomainHost, DomainWebhooks, OperatorRole } from "./domain.ts";
import { collectWhenIdle, processCollection } from "./idle-collection.ts";
import { operatorControllers } from "./operator-controllers.ts";
import { type WebhookOptions, WebhookRole } from "./webhook-role.ts";

/** Options of an operator: a name, and controllers or domains. */
export interface RunOptions {
  /** Names the operator in events, in its lease and towards the API server. */
  readonly name: string;
  /** (default: the name) */
  readonly userAgent?: string | undefined;
  readonly controllers?: readonly Controller[] | undefined;
  /** Domains whose controllers run beside those. */
  readonly domains?: readonly Domain[] | undefined;
  /** Roles of this replica (default: controllers). */
  readonly roles?: readonly OperatorRole[] | undefined;
  /** What must hold before controllers act, e.g. the versions of CRDs (default: nothing). */
  readonly prerequisites?: Prerequisites | undefined;
  /** How the API server reaches the webhooks of domains. Without it no configuration is kept, and the role `webhook` cannot run. */
  readonly webhook?: WebhookOptions | undefined;
  /** Only objects of this namespace, for domains (default: all). */
  readonly namespace?: string | undefined;
  /** Objects that each controller of a domain works on at the same time (default: 4). */
  readonly concurrency?: number | undefined;
  /** Which cluster (default: as kubectl finds it, or the pod's own). */
  readonly config?: Omit<LoadConfigOptions, "system"> | undefined;
  /** Where replicas agree on the one that acts (default: this replica always acts). */
  readonly lease?: { readonly namespace: string; readonly name?: string } | undefined;
  /** This replica in the lease and in events, e.g. its pod (default: the name and a random id). */
  readonly identity?: string | undefined;
  /** The pod that this replica runs in: events about what keeps it from working are about it. */
  readonly pod?: { readonly namespace: string; readonly name: string; readonly uid: string } | undefined;
  /** Port of /metrics, /healthz and /readyz; 0 takes any free port (default: the variable METRICS_PORT, or 8080). */
  readonly port?: number | undefined;
  /** Address of that port (default: all). */
  readonly host?: string | undefined;
  /** (default: JSON lines on standard output, level info) */
  readonly log?: Log | undefined;
  /** Ends the operator (default: SIGTERM or SIGINT). */
  readonly signal?: AbortSignal | undefined;
  readonly system?: System | undefined;
}

/**
 * Runs an operator until SIGTERM: configuration, connection, metrics, probes, election, controllers, graceful stop.
 *
 * @example
 * await run({ name: "copy-controller", controllers: [copies] });
 */
export async function run(options: RunOptions): Promise<void> {
  const { name, userAgent = name, config: which, system = realSystem(), log = createLog() } = options;
  const signal = options.signal ?? terminationSignal();
  const config = await loadConfig({ system, ...which });
  if (config.tls.insecure) log.warn("tls verification is switched off", { server: config.server });
  const metrics = createMetrics({ system, leases: leaseNamesOf(options) });
  const { observe, observeRetry, telemetry, series } = metrics;
  await using transport = createTransport({ config, system, userAgent, observe, observeRetry });
  const stored: DomainHost["stored"] = (request) => manager.informers.stored(request);
  const host = hostOf(options, { transport, system, log, series, stored });
  const webhooks = (options.domains ?? []).flatMap((domain) => domain.webhooks?.(host) ?? []);
  const hasControllers = rolesOf(options).includes("controllers");
  const controllers = hasControllers ? operatorControllers(options, host, webhooks) : [];
  metrics.measure(controllers);
  const informers = (): Manager["informers"] => manager.informers;
  const { gate, ...election } = electionFor(options, { transport, system, log, metrics, informers });
  await using manager = createManager({
    transport,
    system,
    log,
    name,
    controllers,
    telemetry,
    ...election,
    ...podOf(options),
  });
  await using role = webhookRoleOf(options, { transport, system, log, metrics, manager, webhooks });
  await using server = new TelemetryServer({
    ...addressOf(options, system),
    system,
    metrics,
    ...probesOf(manager, role, gate),
    log,
  });
  const port = await server.listen();
  manager.start();
  using _ = collectionOf(options, system);
  log.info("operator started", { server: config.server, metricsPort: port, roles: rolesOf(options) });
  // A webhook that cannot listen ends the operator.
  await Promise.race([aborted(signal), ...(role === undefined ? [] : [role.serve()])]);
  log.info("operator stops");
  await role?.leave();
}

function rolesOf({ roles = ["controllers"] }: RunOptions): readonly OperatorRole[] {
  return roles;
}

/** It stops everything for some tenths of a second: controllers do not mind, a review would. */
function collectionOf(options: RunOptions, system: System): Disposable | undefined {
  const servesReviews = rolesOf(options).includes("webhook");
  return servesReviews ? undefined : collectWhenIdle({ system, ...processCollection() });
}

function hostOf(
  { namespace, concurrency = 4 }: RunOptions,
  parts: Omit<DomainHost, "namespace" | "concurrency">,
): DomainHost {
  return { ...parts, concurrency, namespace };
}

interface WebhookRun extends Omit<ElectionOptions, "informers"> {
  readonly manager: Manager;
  readonly webhooks: readonly DomainWebhooks[];
}

function webhookRoleOf(
  options: RunOptions,
  { transport, system, log, metrics, manager, webhooks }: WebhookRun,
): WebhookRole | undefined {
  if (!rolesOf(options).includes("webhook")) return undefined;
  const { name, webhook } = options;
  if (webhook === undefined) throw new TypeError("the role webhook needs the option `webhook`");
  const role = new WebhookRole({
    name,
    options: webhook,
    webhooks,
    client: createClient({ transport }),
    informers: manager.informers,
    system,
    log,
    observer: { ...metrics.webhooks, ...metrics.certificates },
  });
  metrics.measureWebhooks(role.paths);
  return role;
}

function leaseNamesOf(options: RunOptions): readonly string[] {
  const { name, lease } = options;
  return lease === undefined || !rolesOf(options).includes("controllers") ? [] : [lease.name ?? name];
}

function addressOf(
  { port, host }: RunOptions,
  { env }: System,
): { readonly port: number; readonly host?: string | undefined } {
  return { port: port ?? Number(env["METRICS_PORT"] ?? 8080), host };
}

function podOf({ pod }: RunOptions): Pick<ManagerOptions, "pod"> {
  return pod === undefined ? {} : { pod: { apiVersion: "v1", kind: "Pod", ...pod } };
}

interface ElectionOptions {
  readonly transport: Transport;
  readonly system: System;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly informers: () => Manager["informers"];
}

interface ManagerElection extends Pick<ManagerOptions, "leaderElection" | "instance"> {
  readonly gate?: GatedElector | undefined;
}

/** The election behind the prerequisites of controllers, if there are any. */
function electionFor(options: RunOptions, parts: ElectionOptions): ManagerElection {
  const { prerequisites } = options;
  const election = leaseElectionFor(options, parts);
  if (prerequisites === undefined || !rolesOf(options).includes("controllers")) return election;
  const gate = new GatedElector({ ...parts, prerequisites, elector: election.leaderElection });
  return { ...election, leaderElection: gate, gate };
}

function leaseElectionFor(
  options: RunOptions,
  { transport, system, log, metrics }: ElectionOptions,
): Pick<ManagerOptions, "leaderElection" | "instance"> {
  const { name, lease, identity } = options;
  if (lease === undefined || leaseNamesOf(options).length === 0)
    return identity === undefined ? {} : { instance: identity };
  const instance = identity ?? `${name}-${system.uuid()}`;
  const leaderElection = new LeaseElector({
    client: createClient({ transport }),
    system,
    lease: { name, ...lease },
    identity: instance,
    log,
    observer: metrics.leases,
  });
  return { leaderElection, instance };
}

/**
 * Alive until it stops, ready once every store has its first list, the prerequisites are met, and the webhook, where it runs, can
 * respond.
 */
function probesOf(
  manager: Manager,
  role: WebhookRole | undefined,
  gate: GatedElector | undefined,
): Pick<ConstructorParameters<typeof TelemetryServer>[0], "health" | "readiness" | "off"> {
  const unmet = (): readonly OffPart[] =>
    (gate?.problems ?? []).map((message) => ({ name: "prerequisites", message }));
  return {
    off: () => [...unmet(), ...manager.health().off, ...(role?.off ?? [])],
    health: { stopping: () => !manager.health().isStopping },
    readiness: {
      stores: () => manager.health().isReady,
      ...(gate === undefined ? {} : { prerequisites: () => gate.isMet }),
      ...role?.checks,
    },
  };
}
