import { timestampOf } from "@quartermaster/runtime";

import type { EngineFacts } from "../engine/engine-facts.ts";
import { allocation } from "../facts/allocation.ts";
import type { DisruptionState } from "../facts/disruption-state.ts";
import type { NodeFacts } from "../facts/node-facts.ts";
import type { LaneVerdict } from "../lane.ts";
import { awaitsStep, type Operation } from "./operation.ts";

/** A node counts as empty when it was seen so twice, at least this long apart. */
const sureAfterMs = 5_000;

/** A drain that moves nothing for so long is given up for now. */
const drainTimeoutMs = 15 * 60_000;

export interface DrainState {
  readonly engine: EngineFacts;
  readonly state: DisruptionState;
  readonly node: NodeFacts;
}

/** The next step of moving all shards off a node; undefined once it is surely empty. */
export function drainStep(operation: Operation, drain: DrainState, now: Date): LaneVerdict | undefined {
  const { settings } = drain.engine;
  if (!settings.isKnown) return awaitsStep(operation, operation.step);
  if (!allocation.excludedNodes(settings.value).includes(operation.node))
    return awaitsStep(operation, "Drain", {
      actions: [{ kind: "excludeNode", node: operation.node }],
      changes: progress(operation, undefined, now),
    });
  const left = shardsOn(drain);
  if (left === undefined) return awaitsStep(operation, "Drain");
  if (left > 0) {
    // A node that has shards again was not empty for long enough.
    const { drainedAt: _drainedAt, ...held } = operation;
    return awaitsStep(held, "Drain", { changes: progress(operation, left, now) });
  }
  return emptySince(operation, now) >= sureAfterMs
    ? undefined
    : awaitsStep(operation, "Drain", {
        changes: { shardsLeft: 0, drainedAt: operation.drainedAt ?? timestampOf(now) },
      });
}

function emptySince({ drainedAt }: Operation, now: Date): number {
  return drainedAt === undefined ? 0 : now.getTime() - Date.parse(drainedAt);
}

/**
 * How many copies the node holds, by the shard table and by its own statistics, whichever says more; undefined unless both are known.
 * An empty response of one of them proves nothing. A node that is down holds its copies until every copy is complete elsewhere.
 */
export function shardsOn({ engine, state, node }: DrainState): number | undefined {
  if (!engine.shards.isKnown || !engine.nodeLoad.isKnown || !engine.nodes.isKnown) return undefined;
  const rows = state.copies.filter(({ heldBy }) => heldBy.has(node.name)).length;
  if (!node.isMember) return rows === 0 && isComplete(engine) ? 0 : undefined;
  const load = engine.nodeLoad.value.find((each) => each.node === node.name);
  if (load === undefined) return undefined;
  return Math.max(rows, load.shards, load.documents > 0 ? 1 : 0);
}

/** Every copy of every shard is started. */
function isComplete({ health }: EngineFacts): boolean {
  return health.isKnown && health.value.status === "green" && health.value.unassignedShards === 0;
}

/** The record of how far it is. */
function progress(operation: Operation, left: number | undefined, now: Date): Partial<Operation> {
  const { shardsLeft, progressedAt } = operation;
  const isLess = left !== undefined && (shardsLeft === undefined || left < shardsLeft);
  return {
    ...(left === undefined ? {} : { shardsLeft: left }),
    progressedAt: isLess || progressedAt === undefined ? timestampOf(now) : progressedAt,
  };
}

/** Whether nothing has moved for too long. */
export function isDrainStalled({ step, progressedAt, drainedAt }: Operation, now: Date): boolean {
  if (step !== "Drain" || progressedAt === undefined || drainedAt !== undefined) return false;
  return now.getTime() - Date.parse(progressedAt) >= drainTimeoutMs;
}
