import { queriesOf } from "./autoscaling-policy.ts";
import type { NodePool, SearchCluster, SpecIssue } from "./search-cluster.ts";

const most = 2;

const invalid = (path: string, message: string): SpecIssue => ({ path, reason: "InvalidSpec", message });

/** Metrics of type Prometheus that nobody could answer, and what the API server's rules say too: files are checked without one. */
export function checkQueries({
  pools,
  monitoring,
}: Pick<SearchCluster, "pools" | "monitoring">): readonly SpecIssue[] {
  // Left out, the API server decides upon the stack, and somebody who installs an operator must not make a spec invalid.
  const mode = monitoring === undefined ? "None" : (monitoring.stack.mode ?? "Standalone");
  return pools.flatMap((pool, at) => {
    const path = `spec.nodePools[${String(at)}].autoscaling.metrics`;
    const isUnanswered = mode !== "Standalone" && queriesOf([pool]).length > 0;
    return [
      ...checkShape(pool, path),
      ...(isUnanswered
        ? [
            invalid(
              path,
              "type Prometheus needs the cluster's own Prometheus: set spec.general.monitoring.enable and stack.mode: Standalone",
            ),
          ]
        : []),
    ];
  });
}

function checkShape({ autoscaling }: NodePool, path: string): readonly SpecIssue[] {
  const { metrics = [] } = autoscaling ?? {};
  const queries = metrics.filter(({ type }) => type === "Prometheus");
  return [
    ...metrics.flatMap(({ type, query }, at) =>
      (type === "Prometheus") === (query !== undefined)
        ? []
        : [
            invalid(
              `${path}[${String(at)}].query`,
              "belongs to type Prometheus, which needs it, and to no other",
            ),
          ],
    ),
    ...(queries.length > most ? [invalid(path, "has more than two of type Prometheus")] : []),
  ];
}
