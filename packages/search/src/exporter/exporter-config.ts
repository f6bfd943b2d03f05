import { z } from "zod";

import { type Distribution, distributionNames } from "../model/distribution-facts.ts";

/** The exporter's ConfigMap. Read again before each sample of the engine, so that a change needs no restart. */
export interface ExporterConfig {
  /** Name of the cluster, which becomes a label. */
  readonly cluster: string;
  readonly distribution: Distribution;
  /** Where the engine is: the Service for clients. */
  readonly host: string;
  readonly port: number;
  /** Name to verify in the engine's certificate; left out where the engine serves without TLS. */
  readonly serverName?: string | undefined;
  /** Nodes that the spec requests. */
  readonly expectedNodes: number;
}

const shape = z.strictObject({
  cluster: z.string().min(1).max(253),
  distribution: z.enum(distributionNames),
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
  serverName: z.string().min(1).max(253).optional(),
  expectedNodes: z.int().min(0),
});

/** Reads it. Throws a ZodError that names the field in fault. */
export function readExporterConfig(text: string): ExporterConfig {
  return shape.parse(JSON.parse(text));
}

/** Port that the exporter serves. */
export const exporterPort = 9114;

/** Where its files are. */
export const exporterDirectories = {
  config: "/etc/search-exporter/config",
  /** `ca.crt` of the engine. */
  trust: "/etc/search-exporter/trust",
  /** `username` and `password`. */
  login: "/etc/search-exporter/login",
} as const;

/** File of the configuration. */
export const exporterConfigFile = "config.json";
