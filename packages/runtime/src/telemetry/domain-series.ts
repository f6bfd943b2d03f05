import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** A series of a domain. Its one label has values from a closed list: names of objects never become labels. */
export interface SeriesSpec<V extends string> {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  readonly values: readonly V[];
}

/** A series of times. */
export interface HistogramSpec {
  readonly name: string;
  readonly help: string;
  /** In seconds. */
  readonly buckets: readonly number[];
}

/** Where domains add series of their own. Every value is there from the start, at 0. */
export interface DomainSeries {
  counter<V extends string>(spec: SeriesSpec<V>): (value: V) => void;
  /** Read whenever the page is asked for; missing values are 0. */
  gauge<V extends string>(spec: SeriesSpec<V>, read: () => ReadonlyMap<V, number>): void;
  histogram(spec: HistogramSpec): (seconds: number) => void;
}

/** The door for domains to a registry. */
export function domainSeries(registry: Registry): DomainSeries {
  const registers = [registry];
  return {
    counter: ({ name, help, label, values }) => {
      const counter = new Counter({ name, help, labelNames: [label], registers });
      for (const value of values) counter.inc({ [label]: value }, 0);
      return (value) => {
        counter.inc({ [label]: value });
      };
    },
    gauge: ({ name, help, label, values }, read) => {
      const collect = function collect(this: Gauge): void {
        const figures = read();
        for (const value of values) this.set({ [label]: value }, figures.get(value) ?? 0);
      };
      registry.registerMetric(new Gauge({ name, help, labelNames: [label], registers: [], collect }));
    },
    histogram: ({ name, help, buckets }) => {
      const histogram = new Histogram({ name, help, buckets: [...buckets], registers });
      return (seconds) => {
        histogram.observe(seconds);
      };
    },
  };
}
