import { type DestinationStream, type Logger, pino } from "pino";

import type { Log } from "../reconcile/log.ts";
import { plainFacts } from "./plain-facts.ts";

/** Where lines go, and which. */
export interface CreateLogOptions {
  /** Default: `info`. */
  readonly level?: "debug" | "info" | "warn" | "error";
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/**
 * A log of JSON lines. Fields are reduced to plain facts before anything writes them, see `plainFacts`.
 *
 * @example
 * const log = createLog({ level: "debug" }).with({ controller: "copy" });
 * log.warn("reconcile failed", { code, err: error });
 */
export function createLog({ level = "info", destination }: CreateLogOptions = {}): Log {
  const settings = {
    level,
    base: null,
    messageKey: "message",
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    // Errors come as facts already; pino's own serializer would take them for errors and write them again.
    serializers: { err: (facts: unknown) => facts },
  };
  return logOn(destination === undefined ? pino(settings) : pino(settings, destination));
}

function logOn(logger: Logger): Log {
  const isDebug = logger.isLevelEnabled("debug");
  return {
    isDebug,
    debug: (message, fields = {}) => {
      if (isDebug) logger.debug(plainFacts(fields), message);
    },
    info: (message, fields = {}) => {
      logger.info(plainFacts(fields), message);
    },
    warn: (message, fields = {}) => {
      logger.warn(plainFacts(fields), message);
    },
    error: (message, fields = {}) => {
      logger.error(plainFacts(fields), message);
    },
    with: (fields) => logOn(logger.child(plainFacts(fields))),
  };
}
