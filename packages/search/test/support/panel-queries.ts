import { z } from "zod";

import { dashboardPanels } from "../../src/monitoring/dashboard-panels.ts";

/** A query of a dashboard, with its variables filled in. */
export interface PanelQuery {
  /** Dashboard and title of the panel, e.g. `overview: Nodes`. */
  readonly panel: string;
  readonly expr: string;
}

/** Every query of the four dashboards, for one cluster. */
export function panelQueries(of: {
  readonly namespace: string;
  readonly cluster: string;
}): readonly PanelQuery[] {
  return Object.entries(dashboardPanels).flatMap(([dashboard, { panels }]) =>
    panels.flatMap(({ title, queries }) =>
      queries.map(([expr]) => ({
        panel: `${dashboard}: ${title}`,
        expr: expr.replaceAll("$namespace", of.namespace).replaceAll("$cluster", of.cluster),
      })),
    ),
  );
}

const ofOperator = "a figure of the operator, and this Prometheus reads the exporter alone";

/** Panels that have no data on a cluster without snapshots and in a Prometheus that does not read the operator, and why. No others. */
export const panelsWithoutData: Readonly<Record<string, string>> = {
  "overview: Hours since the last snapshot": "no repository is registered",
  "operator: Clusters that only a user can unblock": ofOperator,
  "operator: Operations on nodes": ofOperator,
  "operator: Requests to engines": ofOperator,
  "operator: Requests to engines that failed": ofOperator,
};

/** Answers a path of Prometheus' API. */
export type QueryPrometheus = (path: string) => Promise<string>;

const responseSchema = z.object({
  status: z.literal("success"),
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});

/** Panels of which a query returns nothing. Throws where Prometheus does not understand one. */
export async function panelsThatAreEmpty(
  queries: readonly PanelQuery[],
  request: QueryPrometheus,
): Promise<readonly string[]> {
  const empty = new Set<string>();
  for (const { panel, expr } of queries) {
    const output = await request(`/api/v1/query?query=${encodeURIComponent(expr)}`);
    const { data } = responseSchema.parse(JSON.parse(output));
    if (data.result.length === 0) empty.add(panel);
  }
  return [...empty].toSorted();
}
