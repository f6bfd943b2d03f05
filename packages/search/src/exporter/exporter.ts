import { isDeepStrictEqual } from "node:util";

import type { System } from "@quartermaster/runtime";

import type { EngineTarget } from "../engine/engine-client.ts";
import { EngineError } from "../engine/engine-error.ts";
import { EngineWire } from "../engine/engine-wire.ts";
import type { EngineDial } from "../engine/open-connection.ts";
import { clusterSeries } from "./cluster-series.ts";
import { certificateSeries, type EnginePart, engineParts } from "./engine-parts.ts";
import type { ExporterConfig } from "./exporter-config.ts";
import { nodeSeries } from "./node-series.ts";
import { pageText, type Sample, sampleOf, type SeriesSpec } from "./sample.ts";

/** Content of the exporter's files. */
export interface ExporterInputs {
  readonly config: ExporterConfig;
  /** CA of the engine's certificate; empty where it serves without TLS. */
  readonly caPem: string;
  /** Undefined where the engine has no users. */
  readonly login: { readonly username: string; readonly password: string } | undefined;
}

/** Dependencies of an exporter. */
export interface ExporterOptions {
  readonly system: System;
  /** Reads the files. Called before each sample, so that a new password or CA needs no restart. */
  readonly readInputs: () => Promise<ExporterInputs>;
  /** How the engine is dialled (default: by TCP). */
  readonly dial?: EngineDial | undefined;
  /** Called for each part that could not be read, with the engine's words made printable. */
  readonly onFailure?: ((part: string, error: unknown) => void) | undefined;
}

const up = "quartermaster_search_exporter_up";
const readOk = "quartermaster_search_exporter_read_success";
const expected = "quartermaster_search_expected_nodes";

/** Every series that the exporter can serve. */
export const exporterSeries: readonly SeriesSpec[] = [
  { name: up, help: "Whether the engine reported its health" },
  { name: readOk, help: "Whether a part of the metrics could be read" },
  { name: expected, help: "Nodes that the spec requests" },
  certificateSeries,
  ...clusterSeries,
  ...nodeSeries,
];

/** Prometheus gives up after 10 s. */
const callLimitMs = 8_000;

/** A refusal is believed for so long: nodes learn of a new role one after the other. */
const refusedMs = 60_000;

/** A page is made at most so often, however many request it. */
const shortestIntervalMs = 2_000;

/**
 * Samples one engine on request, and reports it in Prometheus' text format. A request that comes while a sample is in progress gets
 * the same page: scrapers cannot multiply the requests that reach the engine.
 */
export class Exporter implements AsyncDisposable {
  /** Prometheus' text format. */
  readonly contentType = "text/plain; version=0.0.4; charset=utf-8";
  readonly #options: ExporterOptions;
  readonly #remembered = new Map<
    string,
    { readonly atMs: number; readonly isOk: boolean; readonly samples: readonly Sample[] }
  >();
  #engine: { readonly target: EngineTarget; readonly wire: EngineWire } | undefined;
  #page: { readonly madeMs: number; readonly text: string } | undefined;
  #sample: Promise<string> | undefined;
  #hasResponded = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  /** Whether the engine has ever let us in: before, no scrape is needed. */
  get hasResponded(): boolean {
    return this.#hasResponded;
  }

  /** The page. Rejects only where the exporter's own files cannot be read. */
  async render(): Promise<string> {
    const page = this.#page;
    if (page !== undefined && this.#options.system.monotonicMs() - page.madeMs < shortestIntervalMs)
      return page.text;
    this.#sample ??= this.#listOnce();
    return await this.#sample;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine?.wire.close();
  }

  async #listOnce(): Promise<string> {
    try {
      const inputs = await this.#options.readInputs();
      const wire = await this.#wireTo(targetOf(inputs));
      const reads = await Promise.all(engineParts.map(async (part) => await this.#read(part, wire)));
      const isUp = reads.some(({ part, isOk }) => part === "health" && isOk);
      this.#hasResponded ||= isUp;
      const samples = [
        ...sampleOf(up, isUp ? 1 : 0),
        ...sampleOf(expected, inputs.config.expectedNodes),
        ...reads.flatMap(({ part, isOk }) => sampleOf(readOk, isOk ? 1 : 0, { part })),
        ...reads.flatMap((read) => read.samples),
      ];
      const text = pageText(samples, exporterSeries, inputs.config.cluster);
      this.#page = { madeMs: this.#options.system.monotonicMs(), text };
      return text;
    } finally {
      this.#sample = undefined;
    }
  }

  async #read(
    { part, everyMs, read, isOptional }: EnginePart,
    wire: EngineWire,
  ): Promise<{ readonly part: string; readonly isOk: boolean; readonly samples: readonly Sample[] }> {
    const { system, onFailure } = this.#options;
    const known = this.#known(part, everyMs);
    if (known !== undefined) return { part, ...known };
    try {
      const target = this.#engine?.target;
      const samples = target === undefined ? [] : await read(wire, target, this.#options);
      this.#remembered.set(part, { atMs: system.monotonicMs(), isOk: true, samples });
      return { part, isOk: true, samples };
    } catch (error) {
      onFailure?.(part, error);
      if (isOptional === true && error instanceof EngineError && error.code === "forbidden")
        // Not queried again immediately: each refusal is a line in the engine's audit log.
        this.#remembered.set(part, { atMs: system.monotonicMs(), isOk: false, samples: [] });
      else this.#remembered.delete(part);
      return { part, isOk: false, samples: [] };
    }
  }

  /** Facts that are still valid. */
  #known(
    part: string,
    everyMs: number,
  ): { readonly isOk: boolean; readonly samples: readonly Sample[] } | undefined {
    const known = this.#remembered.get(part);
    if (known === undefined) return undefined;
    const { atMs, isOk, samples } = known;
    const goodMs = isOk ? everyMs : Math.min(everyMs, refusedMs);
    return this.#options.system.monotonicMs() - atMs < goodMs ? { isOk, samples } : undefined;
  }

  /** Another password or CA is another connection; what was learned with the old one is kept. */
  async #wireTo(target: EngineTarget): Promise<EngineWire> {
    if (this.#engine !== undefined && isDeepStrictEqual(this.#engine.target, target))
      return this.#engine.wire;
    const { system, dial } = this.#options;
    const before = this.#engine;
    const wire = new EngineWire(target, {
      system,
      timeoutMs: callLimitMs,
      dial,
    });
    this.#engine = { target, wire };
    await before?.wire.close();
    return wire;
  }
}

function targetOf({ config, caPem, login }: ExporterInputs): EngineTarget {
  const { cluster, distribution, host, port, serverName } = config;
  return {
    distribution,
    endpoints: [{ node: cluster, host, port }],
    tls: serverName === undefined ? undefined : { caPem, serverName, client: undefined },
    login,
  };
}
