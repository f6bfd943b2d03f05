import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { aborted, createLog, type Log, type System, TelemetryServer } from "@quartermaster/runtime";
import {
  Exporter,
  exporterConfigFile,
  type ExporterInputs,
  type ExporterOptions,
  readExporterConfig,
} from "@quartermaster/search/exporter";

import type { Settings } from "./settings.ts";

export interface Environment {
  readonly system: System;
  /** Ends the exporter. */
  readonly signal: AbortSignal;
  readonly log?: Log;
  readonly dial?: ExporterOptions["dial"];
  /** Told the port once it serves. */
  readonly onListening?: (port: number) => void;
}

/** Serves until the signal aborts. It is ready once the engine has let it in. */
export async function runExporter(settings: Settings, environment: Environment): Promise<void> {
  const { system, signal, log = createLog(), dial, onListening } = environment;
  await using exporter = new Exporter({
    system,
    readInputs: async () => await readInputs(settings),
    onFailure: (part, error) => {
      log.warn("a part of the engine's metrics could not be read", { part, err: error });
    },
    ...(dial === undefined ? {} : { dial }),
  });
  await using server = new TelemetryServer({
    system,
    metrics: exporter,
    readiness: { engine: () => exporter.hasResponded },
    port: settings.port,
    log,
  });
  const port = await server.listen();
  onListening?.(port);
  log.info("search exporter started", { port });
  await untilResponded(exporter, { system, signal, log });
  await aborted(signal);
  log.info("search exporter stops");
}

const retryMs = 5_000;

/** Asks on its own until the engine lets us in: before, no one is sent here. */
async function untilResponded(
  exporter: Exporter,
  { system, signal, log }: { readonly system: System; readonly signal: AbortSignal; readonly log: Log },
): Promise<void> {
  while (!signal.aborted && !exporter.hasResponded) {
    try {
      await exporter.render();
    } catch (error) {
      log.warn("the exporter's files cannot be read", { err: error });
    }
    if (exporter.hasResponded) return;
    await Promise.race([system.sleep(retryMs), aborted(signal)]);
  }
}

/** Files of a projected volume: absent ones are empty. */
async function readInputs({
  configDirectory,
  trustDirectory,
  loginDirectory,
}: Settings): Promise<ExporterInputs> {
  const [config, caPem, username, password] = await Promise.all([
    readFile(join(configDirectory, exporterConfigFile), "utf8"),
    readIfThere(join(trustDirectory, "ca.crt")),
    readIfThere(join(loginDirectory, "username")),
    readIfThere(join(loginDirectory, "password")),
  ]);
  return {
    config: readExporterConfig(config),
    caPem,
    login: username === "" ? undefined : { username, password },
  };
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
