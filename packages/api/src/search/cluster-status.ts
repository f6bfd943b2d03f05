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
      .describe("Whether a new cluster is founded or an old one comes back from its volumes."),
    initialManagers: names.describe("The nodes that found the cluster; written once."),
    acceptedNewCluster: text.describe("The UUID that the author gave up."),
  })
  .optional()
  .describe("How the cluster forms; decided before the first pod.");

const node = z.strictObject({
  name: z.string().max(253).describe("Name of the node and its pod."),
  podUid: text.describe("Uid of the pod."),
  pvcUid: text.describe("Uid of its claim."),
  roles: z.array(z.string().max(64)).max(16).optional().describe("Roles."),
  version: text.describe("Version that it runs."),
  member: z.boolean().optional().describe("Whether the cluster counts it as a member."),
  voter: z.boolean().optional().describe("Whether it is a committed voter."),
  elected: z.boolean().optional().describe("Whether it is the elected manager."),
  outdatedBecause: z.array(z.string().max(256)).max(16).optional().describe("Why it needs a restart."),
  blockedBy: z.array(z.string().max(256)).max(16).optional().describe("Checks that refuse the restart."),
});

const pool = z.strictObject({
  component: z.string().max(64).describe("Name of the pool."),
  desired: int32().optional().describe("Nodes that the spec or auto-scaling asks for."),
  target: int32().optional().describe("Nodes that the operator is bringing it to."),
  ready: int32().optional().describe("Pods that are ready; once the cluster has formed."),
  current: int32()
    .optional()
    .describe("Pods that run with the declared configuration; once the cluster has formed."),
  outdated: int32().optional().describe("Pods that need a restart; once the cluster has formed."),
});

const blocker = z.strictObject({
  lane: z.string().max(64).describe("Part of the work that is stuck."),
  rule: z.string().max(128).describe("Rule that says so."),
  reason: z.string().max(128).describe("Reason, one CamelCase word."),
  message: z.string().max(4096).describe("What is waited for."),
  actor: z.string().max(128).optional().describe("Who acts next."),
});

const operation = z
  .strictObject({
    id: z.string().max(64).describe("Names the operation in events and in the engine."),
    type: z.enum(["Restart", "Remove"]).describe("What is done to the node."),
    pool: z.string().max(64).describe("Pool of the node."),
    node: z.string().max(253).describe("Node that is restarted or removed."),
    podUid: z.string().max(64).describe("Uid of the pod that goes; another pod of the name is left alone."),
    claimUid: text.describe("Uid of its claim."),
    cause: z.string().max(256).describe("Why."),
    step: z.enum(["Prepare", "Drain", "Vote", "Shrink", "Await", "Release"]).describe("What is done now."),
    drains: z.boolean().optional().describe("Whether its shards are moved away first."),
    movesVote: z.boolean().optional().describe("Whether its vote is given to another manager first."),
    startedAt: timestamp().describe("When it was declared."),
    awaitingSince: timestamp().optional().describe("Since when the pod is gone."),
    shardsLeft: int32().optional().describe("Copies of shards that the node still holds."),
    progressedAt: timestamp().optional().describe("When shardsLeft last got smaller."),
    drainedAt: timestamp().optional().describe("When the node was first seen without a shard."),
  })
  .optional()
  .describe(
    "The one operation that takes a node away; written before anything is done, gone when all is undone.",
  );

const stalledDrain = z
  .strictObject({
    node: z.string().max(253).describe("Node that did not become empty."),
    attempts: int32().describe("How often it was tried."),
    retryAt: timestamp().describe("When it is tried again."),
    message: z.string().max(1024).describe("What was left on it."),
  })
  .optional()
  .describe("A drain that was given up for now.");

const license = z
  .strictObject({
    uid: text.describe("Identifier of the licence."),
    type: text.describe("Type of the licence."),
    expiryTime: timestamp().optional().describe("When it ends."),
    clusterLicense: z
      .string()
      .max(253)
      .optional()
      .describe(
        "ClusterLicense that the licence was applied from; none for a trial, basic, or one that was uploaded by hand.",
      ),
    lostSince: timestamp()
      .optional()
      .describe(
        "Since when that ClusterLicense is gone while the engine still runs under it. After 15 minutes RevertToBasic acts.",
      ),
    state: z
      .enum(["Applied", "Rejected", "Pending", "Expired", "Unknown"])
      .optional()
      .describe("How it stands."),
    reason: text.describe("Reason, one CamelCase word."),
    message: z.string().max(4096).optional().describe("The server's own words."),
    rejected: z
      .array(
        z.strictObject({
          uid: z.string().max(256).describe("Identifier of the licence."),
          digest: text.describe("Digest of what was refused; another file or version is tried again."),
          reason: text.describe("Why the server refused it."),
          message: z.string().max(4096).optional().describe("The server's own words."),
        }),
      )
      .max(32)
      .optional()
      .describe("Licences that the server refused."),
  })
  .optional()
  .describe("Licence that the engine runs under.");

const monitoring = z
  .strictObject({
    exporter: z.enum(["Ready", "Pending"]).optional().describe("Whether the exporter reads the engine."),
    stack: z
      .enum(["None", "Operator", "Standalone"])
      .optional()
      .describe("Who reads the figures: what was asked for, or what follows from the APIs that are served."),
    objects: z.array(z.string().max(512)).max(64).optional().describe("What is made, as kind and name."),
    absentApis: z
      .array(z.string().max(256))
      .max(16)
      .optional()
      .describe("Kinds that are not served; nothing waits for them, and they are used once they are."),
  })
  .optional()
  .describe("How the cluster is monitored.");

const entryRecords = (most: number, what: string) =>
  listMap(
    z.strictObject({
      name: z.string().max(253).describe("Name."),
      digests: z
        .array(z.string().max(64))
        .max(4)
        .describe(
          "Digests of what the operator wrote or is about to write; nothing else is ever taken away.",
        ),
      verified: z.boolean().optional().describe("Whether every node could use it."),
      foreign: z
        .boolean()
        .optional()
        .describe("Whether it was there as declared before: then it stays when it is no longer declared."),
    }),
    ["name"],
  )
    .max(most)
    .optional()
    .describe(what);

/** Status of a search cluster. Nothing in it changes by itself. */
export const clusterStatus = z.strictObject({
  observedGeneration,
  conditions,
  clusterUuid: text.describe("UUID of the engine's cluster; recorded once it has formed."),
  version: text.describe("Version that every node runs."),
  health: text.describe(
    "green, yellow, red or unknown. During an operation what gets worse is reported at once, what gets better with its next step.",
  ),
  availableNodes: int32()
    .optional()
    .describe(
      "Nodes that are members of the cluster; one that the operator restarts counts again when its operation has ended.",
    ),
  phase: z
    .enum(["PENDING", "RUNNING", "UPGRADING"])
    .optional()
    .describe("PENDING until the cluster has formed."),
  initialized: z.boolean().optional().describe("Whether the cluster has formed."),
  componentsStatus: z
    .array(raw())
    .optional()
    .describe("Copy of the lanes for readers of other operators; never read back."),
  adminsecretcreated: z.boolean().optional().describe("Not used."),
  contextsecretcreated: z.boolean().optional().describe("Not used."),
  bootstrap,
  operation,
  autoscaling: autoscalingStatus,
  stalledDrain,
  restarted: listMap(
    z.strictObject({
      scope: z.string().max(64).describe("Name of the pool; * means all pools."),
      value: z.string().max(1024).describe("Value of the annotation."),
    }),
    ["scope"],
  )
    .max(65)
    .optional()
    .describe("Values of the restart annotations that were acted on."),
  blockers: z.array(blocker).max(32).optional().describe("What is stuck, and who acts next."),
  nodePools: listMap(pool, ["component"]).max(64).optional().describe("Pools."),
  nodes: listMap(node, ["name"]).max(200).optional().describe("Nodes; at most 200."),
  certificates: z
    .strictObject({
      caFingerprint: text.describe("SHA-256 of the authority."),
      httpNotAfter: timestamp().optional().describe("End of the certificate for clients."),
      transportNotAfter: timestamp().optional().describe("End of the certificate between nodes."),
      renewed: text.describe("Value of the annotation renew-certificates that was acted on."),
      served: text.describe("Digest of the certificates that every node was last seen to use."),
      staleNodes: z
        .array(z.string().max(253))
        .max(200)
        .optional()
        .describe("Nodes that still use certificates from before a renewal. At most 200."),
    })
    .optional()
    .describe("Certificates."),
  access: z
    .strictObject({
      service: text.describe("Name of the Service."),
      port: int32().optional().describe("Port."),
      caSecret: text.describe("Secret with ca.crt to trust."),
    })
    .optional()
    .describe("How clients reach the cluster."),
  engine: z
    .strictObject({
      transportTls: z.boolean().optional().describe("Whether nodes talk TLS."),
      fips: z.boolean().optional().describe("Whether FIPS mode is on."),
      security: z.boolean().optional().describe("Whether security is on."),
      minVersion: text.describe("Oldest version among the nodes."),
      maxVersion: text.describe("Newest version among the nodes."),
    })
    .optional()
    .describe("What the engine is."),
  capacity: z
    .strictObject({
      desiredNodes: int32().optional().describe("Nodes that the spec asks for."),
      presentNodes: int32().optional().describe("Nodes that are members."),
      memoryBytes: int64().optional().describe("Memory limits of all nodes together."),
    })
    .optional()
    .describe("How large the cluster is."),
  license,
  monitoring,
  repositories: entryRecords(
    128,
    "Snapshot repositories that the operator registered; recorded before it does.",
  ),
  clusterSettings: entryRecords(512, "Dynamic settings that the operator set; recorded before it does."),
});
