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
      "Cpu, Heap and Disk in percent, Cpu of the limit of the pod or else of the machine; ShardsPerNode; SearchQueue, the searches that wait on a node; WriteRejections a minute and node; Prometheus, the answer to the query.",
    ),
    query: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .describe(
        "Of type Prometheus: asked of the cluster's own Prometheus, which needs monitoring with stack.mode Standalone. The answer must be one number, what a node of the pool has on average.",
      ),
    target: int32().min(1).max(1_000_000).describe("What a node should have of it on average."),
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
        .describe("For so long every sample must ask for it."),
      maxStep: int32().min(1).max(100).default(standard.step).describe("Nodes per change."),
      cooldownSeconds: int32()
        .min(0)
        .max(86_400)
        .default(standard.cooldown)
        .describe("Time between two changes."),
    })
    .optional()
    .describe(what);

const storage = z
  .strictObject({
    maxSize: quantity().max(32).describe("Volumes do not grow beyond this, e.g. 200Gi."),
    growAtPercent: int32()
      .min(50)
      .max(95)
      .default(80)
      .describe("Volumes grow when the disks of the pool are so full, all together."),
    stepPercent: int32().min(5).max(100).default(20).describe("By how much they grow."),
  })
  .optional()
  .describe(
    "Volumes grow before nodes are added for the metric Disk. Needs a StorageClass that allows it; volumes never shrink.",
  );

/** How a pool follows its load. */
export const autoscaling = cel(
  z.strictObject({
    mode: z
      .enum(["Off", "Recommend", "Auto"])
      .describe(
        "Off: nothing. Recommend: status and events say how many nodes there should be. Auto: the operator also adds and removes them; replicas is only where it starts.",
      ),
    minReplicas: int32().min(1).max(1000).describe("Fewest nodes."),
    maxReplicas: int32().min(1).max(1000).describe("Most nodes."),
    metrics: metrics.describe("What the pool is sized by; the metric that asks for most nodes wins."),
    scaleUp: pace("How fast nodes are added.", { window: 120, step: 2, cooldown: 300 }),
    scaleDown: pace("How fast nodes are removed, which moves all their shards.", {
      window: 1800,
      step: 1,
      cooldown: 3600,
    }),
    storage,
  }),
  {
    rule: "self.minReplicas <= self.maxReplicas",
    message: "minReplicas must not be greater than maxReplicas",
    fieldPath: ".minReplicas",
  },
)
  .optional()
  .describe("How the number of nodes follows the load. Defaults to a fixed number: replicas.");

/** Of pools: managers are counted for a majority, not for load. */
export const managersStay = {
  rule: "!has(self.autoscaling) || self.autoscaling.mode != 'Auto' || !self.roles.exists(role, role in ['cluster_manager', 'master'])",
  message:
    "mode Auto is not for pools with role cluster_manager: use Recommend, or give data nodes a pool of their own",
  fieldPath: ".autoscaling.mode",
} as const;

const reasons = z.array(z.string().max(64)).max(16).optional();

/** What auto-scaling has decided. */
export const autoscalingStatus = z
  .strictObject({
    pools: listMap(
      z.strictObject({
        pool: z.string().max(64).describe("Name of the pool."),
        mode: z.enum(["Recommend", "Auto"]).describe("Mode."),
        current: int32().optional().describe("Nodes that the pool has a place for now."),
        target: int32()
          .optional()
          .describe("Nodes that it has to have, in mode Auto; written before it is acted on."),
        recommendation: int32().optional().describe("Nodes that the load asks for, within the limits."),
        limitedBy: reasons.describe("What holds the target back, each one CamelCase word."),
        message: z.string().max(1024).optional().describe("Why a removal was refused."),
        volumeSize: z
          .string()
          .max(32)
          .optional()
          .describe("Size that its volumes have to have; written before they grow."),
        lastVolumeGrowthTime: timestamp().optional().describe("When that size was last raised."),
        lastScaleUpTime: timestamp().optional().describe("When the target was last raised."),
        lastScaleDownTime: timestamp().optional().describe("When the target was last lowered."),
        metrics: atomicList(
          z.strictObject({
            type: z.string().max(64).describe("Metric."),
            target: int32().optional().describe("Its target."),
            recommendation: int32().optional().describe("Nodes that it alone asks for."),
          }),
        )
          .max(8)
          .optional()
          .describe("Metrics."),
      }),
      ["pool"],
    )
      .max(64)
      .optional()
      .describe("Pools with auto-scaling."),
  })
  .optional()
  .describe("What auto-scaling has decided.");
