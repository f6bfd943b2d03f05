import { int32, int64, listMap, raw, timestamp } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions, observedGeneration } from "../condition.ts";
import { autoscalingStatus } from "./autoscaling.ts";

const text = z.string().max(1024).optional();
const names = z.array(z.string().max(253)).max(1000).optional();

const bootstrap = z
  .strictObject({
    mode: z
      .enum(["Found", "Recover"])
      .optional()
      .describe("Found for a new cluster, Recover for a cluster that returns from its volumes."),
    initialManagers: names.describe("Nodes that form the new cluster. Written once. At most 1000."),
    acceptedNewCluster: text.describe("UUID of the lost cluster whose data the author gave up."),
  })
  .optional()
  .describe("How the cluster forms. Decided once, before the first pod starts.");

const node = z.strictObject({
  name: z.string().max(253).describe("Name of the node and its pod."),
  podUid: text.describe("UID of the pod."),
  pvcUid: text.describe("UID of the PersistentVolumeClaim."),
  roles: z.array(z.string().max(64)).max(16).optional().describe("Roles of the node. At most 16."),
  version: text.describe("Version of the engine that the node runs."),
  member: z.boolean().optional().describe("Whether the node is a member of the cluster."),
  voter: z.boolean().optional().describe("Whether the node is a committed voter."),
  elected: z.boolean().optional().describe("Whether the node is the elected manager."),
  outdatedBecause: z
    .array(z.string().max(256))
    .max(16)
    .optional()
    .describe("Reasons for a pending restart of the node. At most 16."),
  blockedBy: z
    .array(z.string().max(256))
    .max(16)
    .optional()
    .describe("Checks that prevent the restart. At most 16."),
});

const pool = z.strictObject({
  component: z.string().max(64).describe("Name of the pool."),
  desired: int32().optional().describe("Number of nodes that the spec or auto-scaling requests."),
  target: int32().optional().describe("Number of nodes that the operator is scaling the pool to."),
  ready: int32().optional().describe("Number of ready pods. Present once the cluster has formed."),
  current: int32()
    .optional()
    .describe("Number of pods with the declared configuration. Present once the cluster has formed."),
  outdated: int32()
    .optional()
    .describe("Number of pods that need a restart. Present once the cluster has formed."),
});

const blocker = z.strictObject({
  lane: z.string().max(64).describe("Lane that is blocked, e.g. nodes or certificates."),
  rule: z.string().max(128).describe("Rule that reported it."),
  reason: z.string().max(128).describe("Reason, one CamelCase word."),
  message: z.string().max(4096).describe("Human-readable explanation of what the lane waits for."),
  actor: z.string().max(128).optional().describe("Who has to act next."),
});

const operation = z
  .strictObject({
    id: z.string().max(64).describe("Identifier of the operation in events and in the engine."),
    type: z.enum(["Restart", "Remove"]).describe("Type of the operation: Restart or Remove."),
    pool: z.string().max(64).describe("Pool of the node."),
    node: z.string().max(253).describe("Node that is restarted or removed."),
    podUid: z
      .string()
      .max(64)
      .describe("UID of the pod to delete. Another pod with the same name is left alone."),
    claimUid: text.describe("UID of the PersistentVolumeClaim."),
    cause: z.string().max(256).describe("Reason for the operation."),
    step: z
      .enum(["Prepare", "Drain", "Vote", "Shrink", "Await", "Release"])
      .describe("Current step of the operation."),
    drains: z.boolean().optional().describe("Whether the shards of the node are moved away first."),
    movesVote: z
      .boolean()
      .optional()
      .describe("Whether another manager takes over the vote of the node first."),
    startedAt: timestamp().describe("When the operation was declared."),
    awaitingSince: timestamp().optional().describe("When the pod was deleted."),
    shardsLeft: int32().optional().describe("Number of copies of shards that are still on the node."),
    progressedAt: timestamp().optional().describe("When shardsLeft last decreased."),
    drainedAt: timestamp().optional().describe("When the node was first observed without shards."),
  })
  .optional()
  .describe(
    "The operation in progress that restarts or removes a node. At most one at a time. Written before the operator acts, removed when every change in the engine is undone.",
  );

const stalledDrain = z
  .strictObject({
    node: z.string().max(253).describe("Node that could not be drained."),
    attempts: int32().describe("Number of attempts."),
    retryAt: timestamp().describe("When the drain is tried again."),
    message: z.string().max(1024).describe("Human-readable explanation of what is still on the node."),
  })
  .optional()
  .describe("Drain that the operator gave up for now.");

const license = z
  .strictObject({
    uid: text.describe("Identifier of the license."),
    type: text.describe("Type of the license."),
    expiryTime: timestamp().optional().describe("When the license expires."),
    clusterLicense: z
      .string()
      .max(253)
      .optional()
      .describe(
        "Name of the ClusterLicense that the license was applied from. Absent for a trial, a basic license, or one that a user uploaded.",
      ),
    lostSince: timestamp()
      .optional()
      .describe(
        "When that ClusterLicense was found deleted while the engine still uses its license. After 15 minutes the policy RevertToBasic takes effect.",
      ),
    state: z
      .enum(["Applied", "Rejected", "Pending", "Expired", "Unknown"])
      .optional()
      .describe("State of the license."),
    reason: text.describe("Reason, one CamelCase word."),
    message: z.string().max(4096).optional().describe("Message of the engine."),
    rejected: z
      .array(
        z.strictObject({
          uid: z.string().max(256).describe("Identifier of the license."),
          digest: text.describe(
            "Digest of the rejected license and the engine's version. A different file or version is tried again.",
          ),
          reason: text.describe("Reason why the engine rejected the license."),
          message: z.string().max(4096).optional().describe("Message of the engine."),
        }),
      )
      .max(32)
      .optional()
      .describe("Licenses that the engine rejected. At most 32."),
  })
  .optional()
  .describe("License that the engine uses.");

const monitoring = z
  .strictObject({
    exporter: z
      .enum(["Ready", "Pending"])
      .optional()
      .describe("Ready if the exporter reads metrics of the engine, otherwise Pending."),
    stack: z
      .enum(["None", "Operator", "Standalone"])
      .optional()
      .describe("Monitoring stack in use: stack.mode, or what follows from the served APIs."),
    objects: z
      .array(z.string().max(512))
      .max(64)
      .optional()
      .describe("Objects that the operator created, as kind and name. At most 64."),
    absentApis: z
      .array(z.string().max(256))
      .max(16)
      .optional()
      .describe(
        "APIs that are not served. The operator does not wait for them and uses them once they are served. At most 16.",
      ),
  })
  .optional()
  .describe("State of monitoring.");

const entryRecords = (most: number, what: string) =>
  listMap(
    z.strictObject({
      name: z.string().max(253).describe("Name of the entry."),
      digests: z
        .array(z.string().max(64))
        .max(4)
        .describe(
          "Digests of what the operator wrote or is about to write. It never removes anything else. At most 4.",
        ),
      verified: z.boolean().optional().describe("Whether every node has verified the entry."),
      foreign: z
        .boolean()
        .optional()
        .describe(
          "Whether the entry already existed as declared. It then stays when it is no longer declared.",
        ),
    }),
    ["name"],
  )
    .max(most)
    .optional()
    .describe(what);

/** Status of a search cluster. Nothing in it changes on its own. */
export const clusterStatus = z.strictObject({
  observedGeneration,
  conditions,
  clusterUuid: text.describe("UUID of the cluster in the engine. Recorded once the cluster has formed."),
  version: text.describe("Version that every node runs."),
  health: text.describe(
    "Health of the cluster: green, yellow, red or unknown. During an operation a decline is reported immediately, an improvement with the next step.",
  ),
  availableNodes: int32()
    .optional()
    .describe(
      "Number of nodes that are members of the cluster. A node that the operator restarts counts again when the operation has ended.",
    ),
  phase: z
    .enum(["PENDING", "RUNNING", "UPGRADING"])
    .optional()
    .describe("Phase for readers of other operators. PENDING until the cluster has formed."),
  initialized: z.boolean().optional().describe("Whether the cluster has formed."),
  componentsStatus: z
    .array(raw())
    .optional()
    .describe("Copy of the lanes for readers of other operators. The operator never reads it."),
  adminsecretcreated: z.boolean().optional().describe("Accepted for compatibility, not used."),
  contextsecretcreated: z.boolean().optional().describe("Accepted for compatibility, not used."),
  bootstrap,
  operation,
  autoscaling: autoscalingStatus,
  stalledDrain,
  restarted: listMap(
    z.strictObject({
      scope: z.string().max(64).describe("Name of the pool. * means all pools."),
      value: z.string().max(1024).describe("Value of the annotation."),
    }),
    ["scope"],
  )
    .max(65)
    .optional()
    .describe("Values of the restart annotations that the operator has carried out. At most 65."),
  blockers: z
    .array(blocker)
    .max(32)
    .optional()
    .describe("Lanes that are blocked, with what they wait for and who acts next. At most 32."),
  nodePools: listMap(pool, ["component"]).max(64).optional().describe("State of each pool. At most 64."),
  nodes: listMap(node, ["name"]).max(200).optional().describe("State of each node. At most 200."),
  certificates: z
    .strictObject({
      caFingerprint: text.describe("SHA-256 fingerprint of the CA."),
      httpNotAfter: timestamp().optional().describe("When the certificate for clients expires."),
      transportNotAfter: timestamp().optional().describe("When the certificate between nodes expires."),
      renewed: text.describe(
        "Value of the annotation renew-certificates that the operator last carried out.",
      ),
      served: text.describe("Digest of the certificates that every node used at the last check."),
      staleNodes: z
        .array(z.string().max(253))
        .max(200)
        .optional()
        .describe("Nodes that still serve a certificate from before a renewal. At most 200."),
    })
    .optional()
    .describe("State of the certificates."),
  access: z
    .strictObject({
      service: text.describe("Name of the Service for clients."),
      port: int32().optional().describe("Port of the Service."),
      caSecret: text.describe("Name of the Secret whose ca.crt clients must trust."),
    })
    .optional()
    .describe("How clients reach the cluster."),
  engine: z
    .strictObject({
      transportTls: z.boolean().optional().describe("Whether nodes use TLS between each other."),
      fips: z.boolean().optional().describe("Whether FIPS mode is enabled."),
      security: z.boolean().optional().describe("Whether security is enabled."),
      minVersion: text.describe("Oldest version among the nodes."),
      maxVersion: text.describe("Newest version among the nodes."),
    })
    .optional()
    .describe("Facts about the engine."),
  capacity: z
    .strictObject({
      desiredNodes: int32().optional().describe("Number of nodes that the spec requests."),
      presentNodes: int32().optional().describe("Number of nodes that are members."),
      memoryBytes: int64().optional().describe("Sum of the memory limits of all nodes, in bytes."),
    })
    .optional()
    .describe("Size of the cluster, which licensing counts."),
  license,
  monitoring,
  repositories: entryRecords(
    128,
    "Snapshot repositories of the operator. Recorded before it registers them. At most 128.",
  ),
  clusterSettings: entryRecords(
    512,
    "Dynamic settings of the operator. Recorded before it sets them. At most 512.",
  ),
});
