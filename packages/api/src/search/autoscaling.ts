import { atomicList, cel, int32, listMap, quantity, timestamp } from "@quartermaster/runtime/schema";
import { z } from "zod";

const metricType = z.enum([
  "Cpu",
  "Heap",
  "Disk",
  "ShardsPerNode",
  "SearchQueue",
  "WriteRejections",
  "Prometheus",
]);

const metric = cel(
  z.strictObject({
    type: metricType.describe(
      "Metric that the pool is sized by. Cpu, Heap and Disk are percentages; Cpu is relative to the CPU limit of the pod, or to the machine if the pod has none. ShardsPerNode counts copies of shards. SearchQueue counts searches that wait for a thread. WriteRejections counts rejected writes per minute. Prometheus is the result of query.",
    ),
    query: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .describe(
        "PromQL query, required for type Prometheus and not allowed for others. The operator sends it to the cluster's own Prometheus every 30 seconds, which requires monitoring with stack.mode Standalone. The result must be one number: the average per node of the pool. At most 1024 characters.",
      ),
    target: int32()
      .min(1)
      .max(1_000_000)
      .describe(
        "Value of the metric that the nodes should have on average. At most 100 for Cpu, Heap and Disk.",
      ),
  }),
  {
    rule: "!(self.type in ['Cpu', 'Heap', 'Disk']) || self.target <= 100",
    message: "the target of Cpu, Heap and Disk is a percentage: write 1 to 100",
    fieldPath: ".target",
  },
  {
    rule: "(self.type == 'Prometheus') == has(self.query)",
    message: "type Prometheus needs a query, and no other type has one",
  },
);

/** Not known by their type: a pool may have two queries. */
const metrics = cel(
  atomicList(metric).min(1).max(8),
  {
    rule: "self.filter(metric, metric.type == 'Prometheus').size() <= 2",
    message: "at most two metrics may be of type Prometheus",
  },
  {
    rule: "self.all(one, self.exists_one(other, one.type == other.type && (one.type != 'Prometheus' || one.query == other.query)))",
    message: "each type, and each query, may be there once",
  },
);

/** Longer windows would only need more memory. */
const longestWindow = 3600;

const pace = (
  what: string,
  standard: { readonly window: number; readonly step: number; readonly cooldown: number },
) =>
  z
    .strictObject({
      stabilizationSeconds: int32()
        .min(0)
        .max(longestWindow)
        .default(standard.window)
        .describe("Time in seconds during which every sample must support the change. At most 3600."),
      maxStep: int32()
        .min(1)
        .max(100)
        .default(standard.step)
        .describe("Maximum number of nodes per change. At most 100."),
      cooldownSeconds: int32()
        .min(0)
        .max(86_400)
        .default(standard.cooldown)
        .describe("Minimum time in seconds between two changes. At most 86400."),
    })
    .optional()
    .describe(what);

const storage = z
  .strictObject({
    maxSize: quantity().max(32).describe("Maximum size of each volume, e.g. 200Gi. Required."),
    growAtPercent: int32()
      .min(50)
      .max(95)
      .default(80)
      .describe("Disk usage of the whole pool, in percent, at which its volumes grow. Between 50 and 95."),
    stepPercent: int32()
      .min(5)
      .max(100)
      .default(20)
      .describe("Amount by which each volume grows, in percent of its size. Between 5 and 100."),
  })
  .optional()
  .describe(
    "Growth of the pool's volumes, in mode Auto. Volumes grow before nodes are added for the metric Disk. The StorageClass must allow volume expansion. Volumes never shrink. Defaults to no growth.",
  );

/** How a pool follows its load. */
export const autoscaling = cel(
  z.strictObject({
    mode: z
      .enum(["Off", "Recommend", "Auto"])
      .describe(
        "Off does nothing. Recommend reports the number of nodes that the load needs, in status and events. Auto also adds and removes nodes; replicas is then only the starting point. Pools with the role cluster_manager cannot use Auto.",
      ),
    minReplicas: int32().min(1).max(1000).describe("Minimum number of nodes of the pool."),
    maxReplicas: int32().min(1).max(1000).describe("Maximum number of nodes of the pool. At most 1000."),
    metrics: metrics.describe(
      "Metrics that the pool is sized by. The metric that needs the most nodes wins. Between 1 and 8, of which two may be of type Prometheus.",
    ),
    scaleUp: pace(
      "How fast nodes are added. Defaults to a window of 120 s, 2 nodes per change and a cooldown of 300 s.",
      { window: 120, step: 2, cooldown: 300 },
    ),
    scaleDown: pace(
      "How fast nodes are removed, which moves all of their shards. Defaults to a window of 1800 s, 1 node per change and a cooldown of 3600 s.",
      {
        window: 1800,
        step: 1,
        cooldown: 3600,
      },
    ),
    storage,
  }),
  {
    rule: "self.minReplicas <= self.maxReplicas",
    message: "minReplicas must not be greater than maxReplicas",
    fieldPath: ".minReplicas",
  },
)
  .optional()
  .describe("Automatic number of nodes, based on load. Defaults to the fixed number in replicas.");

/** Of pools: managers are counted for a majority, not for load. */
export const managersStay = {
  rule: "!has(self.autoscaling) || self.autoscaling.mode != 'Auto' || !self.roles.exists(role, role in ['cluster_manager', 'master'])",
  message:
    "mode Auto is not for pools with role cluster_manager: use Recommend, or give data nodes a pool of their own",
  fieldPath: ".autoscaling.mode",
} as const;

const reasons = z.array(z.string().max(64)).max(16).optional();

export const autoscalingStatus = z
  .strictObject({
    pools: listMap(
      z.strictObject({
        pool: z.string().max(64).describe("Name of the pool."),
        mode: z.enum(["Recommend", "Auto"]).describe("Mode of auto-scaling in use."),
        current: int32().optional().describe("Number of nodes in the pool's StatefulSet now."),
        target: int32()
          .optional()
          .describe(
            "Number of nodes that the operator scales the pool to, in mode Auto. Written before the operator acts on it.",
          ),
        recommendation: int32()
          .optional()
          .describe("Number of nodes that the load needs, within minReplicas and maxReplicas."),
        limitedBy: reasons.describe("Reasons that limit the target, one CamelCase word each. At most 16."),
        message: z.string().max(1024).optional().describe("Explanation of why a removal was refused."),
        volumeSize: z
          .string()
          .max(32)
          .optional()
          .describe("Size that the operator grows the pool's volumes to. Written before the volumes grow."),
        lastVolumeGrowthTime: timestamp().optional().describe("When volumeSize was last raised."),
        lastScaleUpTime: timestamp().optional().describe("When the target was last raised."),
        lastScaleDownTime: timestamp().optional().describe("When the target was last lowered."),
        metrics: atomicList(
          z.strictObject({
            type: z.string().max(64).describe("Type of the metric."),
            target: int32().optional().describe("Target of the metric."),
            recommendation: int32().optional().describe("Number of nodes that this metric needs on its own."),
          }),
        )
          .max(8)
          .optional()
          .describe("Recommendation of each metric. At most 8."),
      }),
      ["pool"],
    )
      .max(64)
      .optional()
      .describe("Pools with auto-scaling. At most 64."),
  })
  .optional()
  .describe("Decisions of auto-scaling, per pool.");
