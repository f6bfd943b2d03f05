import type { DomainSeries } from "@quartermaster/runtime";

/** How many nodes a pool has to have. */
export interface TargetFigure {
  /** `namespace/cluster/pool`. */
  readonly pool: string;
  readonly target: number;
}

/** Names become labels within a limit; what is beyond it is added up under one. */
const bounded = { atMost: 1000 } as const;

/** Registers the series of auto-scaling. Returns the hook by which each controller says what it knows, asked whenever the page is. */
export function autoscalingMetrics(series: DomainSeries): (read: () => readonly TargetFigure[]) => void {
  const sources: (() => readonly TargetFigure[])[] = [];
  series.gauge(
    {
      name: "quartermaster_search_autoscaling_target",
      help: "Nodes that auto-scaling has decided a pool of a search cluster has to have",
      labels: { pool: bounded },
    },
    () => sources.flatMap((read) => read().map(({ target, ...labels }) => ({ labels, value: target }))),
  );
  return (read) => {
    sources.push(read);
  };
}
