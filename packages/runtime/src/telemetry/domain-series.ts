import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import { LabelBounds, type LabelsOf, type SeriesLabels } from "./label-bounds.ts";

/** A series with one label from a closed list. */
export interface SeriesSpec<V extends string> {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  readonly values: readonly V[];
}

/** A series with several labels, each within its bounds: names of objects never become labels without a limit. */
export interface LabelledSpec<L extends SeriesLabels> {
  readonly name: string;
  readonly help: string;
  readonly labels: L;
}

/** A series of times. */
export interface HistogramSpec {
  readonly name: string;
  readonly help: string;
  /** In seconds. */
  readonly buckets: readonly number[];
}

/** A value of a gauge. Values whose labels become the same are added up. */
export interface Metric<L extends SeriesLabels> {
  readonly labels: LabelsOf<L>;
  readonly value: number;
}

/**
 * Where domains add series of their own. Every combination of closed lists is there from the start, at 0.
 *
 * @example
 * const count = series.counter({ name: "injections_total", help: "…", labels: { result: ["done", "skipped"], bundle: { atMost: 50 } } });
 * count({ result: "done", bundle: "base" });
 */
export interface DomainSeries {
  counter<V extends string>(spec: SeriesSpec<V>): (value: V) => void;
  counter<const L extends SeriesLabels>(spec: LabelledSpec<L>): (labels: LabelsOf<L>, by?: number) => void;
  /** Read whenever the page is requested; missing values are 0. */
  gauge<V extends string>(spec: SeriesSpec<V>, read: () => ReadonlyMap<V, number>): void;
  gauge<const L extends SeriesLabels>(spec: LabelledSpec<L>, read: () => Iterable<Metric<L>>): void;
  histogram(spec: HistogramSpec): (seconds: number) => void;
  histogram<const L extends SeriesLabels>(
    spec: HistogramSpec & LabelledSpec<L>,
  ): (seconds: number, labels: LabelsOf<L>) => void;
}

/** The door for domains to a registry. */
export function domainSeries(registry: Registry): DomainSeries {
  return new RegistrySeries(registry);
}

type AnyLabels = Readonly<Record<string, string>>;
type AnySpec = SeriesSpec<string> | LabelledSpec<SeriesLabels>;
type AnyMetric = Metric<SeriesLabels> | readonly [string, number];

class RegistrySeries implements DomainSeries {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  counter(spec: AnySpec): (given: string | AnyLabels, by?: number) => void {
    const { name, help } = spec;
    const bounds = boundsOf(spec);
    const registers = [this.#registry];
    const counter = new Counter({ name, help, labelNames: bounds.names(), registers });
    for (const labels of bounds.combinations()) counter.inc(labels, 0);
    return (given, by = 1) => {
      counter.inc(bounds.bounded(labelsOf(spec, given)), by);
    };
  }

  gauge(spec: AnySpec, read: () => Iterable<AnyMetric>): void {
    const { name, help } = spec;
    const bounds = boundsOf(spec);
    const collect = function collect(this: Gauge): void {
      this.reset();
      bounds.forget();
      for (const labels of bounds.combinations()) this.set(labels, 0);
      for (const metric of read()) {
        const { labels, value } = metricOf(spec, metric);
        this.inc(bounds.bounded(labels), value);
      }
    };
    const gauge = new Gauge({ name, help, labelNames: bounds.names(), registers: [], collect });
    this.#registry.registerMetric(gauge);
  }

  histogram(
    spec: HistogramSpec & { readonly labels?: SeriesLabels },
  ): (seconds: number, labels?: AnyLabels) => void {
    const { name, help, buckets, labels: rules = {} } = spec;
    const bounds = new LabelBounds(rules);
    const labelNames = bounds.names();
    const registers = [this.#registry];
    const histogram = new Histogram({ name, help, labelNames, buckets: [...buckets], registers });
    for (const labels of bounds.combinations()) histogram.zero(labels);
    return (seconds, labels = {}) => {
      histogram.observe(bounds.bounded(labels), seconds);
    };
  }
}

function boundsOf(spec: AnySpec): LabelBounds {
  return new LabelBounds("label" in spec ? { [spec.label]: spec.values } : spec.labels);
}

function labelsOf(spec: AnySpec, given: string | AnyLabels): AnyLabels {
  if (typeof given !== "string") return given;
  return "label" in spec ? { [spec.label]: given } : {};
}

function metricOf(spec: AnySpec, metric: AnyMetric): { readonly labels: AnyLabels; readonly value: number } {
  if ("labels" in metric) return metric;
  const [given, value] = metric;
  return { labels: labelsOf(spec, given), value };
}
