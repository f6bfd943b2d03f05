import { join } from "node:path";

import {
  createClient,
  createLog,
  createMetrics,
  createTransport,
  loadConfig,
  type Log,
  type System,
  TelemetryServer,
} from "@quartermaster/runtime";

import { csiServices, type Registration, registrationServices } from "./csi/csi-services.ts";
import { SocketServer } from "./csi/socket-server.ts";
import { driverMetrics } from "./driver-metrics.ts";
import { type Tmpfs, utilLinuxTmpfs } from "./files/tmpfs.ts";
import { DRIVER_NAME, type Settings } from "./settings.ts";
import { Volumes } from "./volume/volumes.ts";

export interface Environment {
  readonly system: System;
  /** Ends the driver; volumes stay mounted. */
  readonly signal: AbortSignal;
  readonly log?: Log | undefined;
  readonly tmpfs?: Tmpfs | undefined;
}

/**
 * Runs the driver until the signal aborts. Volumes are recovered before kubelet can call, and the driver registers last: kubelet calls as soon
 * as it knows of us.
 */
export async function runDriver(settings: Settings, environment: Environment): Promise<void> {
  const { system, signal, log = createLog({ level: settings.logLevel }) } = environment;
  const { kubeconfigPath, metricsPort } = settings;
  const config = await loadConfig({ system, kubeconfigPath });
  const metrics = createMetrics({ system });
  const { observe, observeRetry, series } = metrics;
  const userAgent = "quartermaster-share-driver";
  await using transport = createTransport({ config, system, userAgent, observe, observeRetry });
  const volumes: Volumes = new Volumes({
    transport,
    client: createClient({ transport }),
    system,
    log,
    tmpfs: environment.tmpfs ?? utilLinuxTmpfs(system),
    recordDirectory: join(pluginDirectory(settings), "volumes"),
    metrics: driverMetrics(series, () => volumes),
    signal,
  });
  await volumes.recover();
  const kubelet = { isRegistered: false };
  const readiness = { registered: () => kubelet.isRegistered };
  await using telemetry = new TelemetryServer({ system, metrics, readiness, port: metricsPort, log });
  await telemetry.listen();
  await using sockets = await openSockets(settings, {
    volumes,
    log,
    onStatus: (isRegistered) => {
      kubelet.isRegistered = isRegistered;
    },
  });
  log.info("share driver started", { node: settings.nodeName, endpoint: sockets.endpoint });
  await aborted(signal);
  log.info("share driver stops");
  volumes.stop();
}

function pluginDirectory({ kubeletDirectory }: Settings): string {
  return join(kubeletDirectory, "plugins", DRIVER_NAME);
}

interface SocketOptions extends Pick<Registration, "log" | "onStatus"> {
  readonly volumes: Volumes;
}

/** The plugin's own socket first: kubelet calls it as soon as it finds the other one. */
async function openSockets(
  settings: Settings,
  { volumes, log, onStatus }: SocketOptions,
): Promise<AsyncDisposable & { readonly endpoint: string }> {
  const { nodeName, kubeletDirectory } = settings;
  const endpoint = join(pluginDirectory(settings), "csi.sock");
  await using opened = new AsyncDisposableStack();
  opened.use(await SocketServer.listen(endpoint, csiServices({ nodeName, kubeletDirectory, volumes }), log));
  const registry = join(kubeletDirectory, "plugins_registry", `${DRIVER_NAME}-reg.sock`);
  opened.use(await SocketServer.listen(registry, registrationServices({ endpoint, log, onStatus }), log));
  const sockets = opened.move();
  return { endpoint, [Symbol.asyncDispose]: async () => await sockets.disposeAsync() };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  signal.addEventListener("abort", () => {
    resolve(undefined);
  });
  await promise;
}
