import { classify, type Context } from "@quartermaster/runtime";

import { kindIn, type KindTable } from "../manifest/kind-table.ts";
import type { Identity } from "../model/identity.ts";
import { collisionReasons } from "../model/issue.ts";
import { hasStarted, isRolledBack } from "../model/plan-status.ts";
import type { PlanMemory } from "../plan-memory.ts";
import type { Seen } from "../seen.ts";
import { collisionOf } from "./preflight.ts";

/** Objects of others that are in the way of a plan. */
export interface Colliding {
  /** The end of each of the first few brings the plan back. */
  readonly isFollowed: boolean;
  /** How long something has been in the way. */
  readonly elapsedMs: number;
}

export interface FollowOptions {
  readonly ctx: Context;
  readonly kinds: KindTable;
  readonly memory: PlanMemory;
}

/**
 * Watches the first objects that are in the way, each by its name: they have no owner labels of the plan, so that no other watch
 * brings the plan back when they go. A few are enough, because all of them have to go. The watch is the operator's and only
 * wakes; what is there is read as the account.
 */
export function followColliding(
  seen: Pick<Seen, "plan" | "members" | "replacement" | "preflight" | "nowMs">,
  { ctx, kinds, memory }: FollowOptions,
): Colliding | undefined {
  const found = collidingObjects(seen).slice(0, followedObjects);
  if (found.length === 0) {
    memory.restart(matter);
    return undefined;
  }
  const followed = found.map((identity) => isFollowed(identity, kinds, ctx));
  return {
    isFollowed: followed.every(Boolean),
    elapsedMs: memory.elapsedMs(matter, seen.nowMs),
  };
}

const followedObjects = 3;
const matter = "colliding";

/** A plan that has handed its objects over is in no one's way, and no one in its own. */
function collidingObjects({
  plan,
  members,
  replacement,
  preflight,
}: Pick<Seen, "plan" | "members" | "replacement" | "preflight">): readonly Identity[] {
  const isFinished = plan.status?.phase === "Superseded" || isRolledBack(plan);
  if (isFinished || replacement.successor !== undefined) return [];
  if (hasStarted(plan))
    return members
      .filter((view) => view.failure?.kind === "collision" || collisionOf(view).length > 0)
      .map(({ member }) => member.identity);
  return (preflight?.issues ?? []).flatMap(({ reason, object }) =>
    object !== undefined && collisionReasons.has(reason) ? [object] : [],
  );
}

/** False where the operator may not watch the object, or follows as many as it can. */
function isFollowed(identity: Identity, kinds: KindTable, ctx: Context): boolean {
  const kind = kindIn(kinds, identity);
  if (kind === undefined) return false;
  try {
    ctx.follow(kind, identity, { isMetadataOnly: true });
    return true;
  } catch (error) {
    const errorClass = classify(error);
    // No response yet: the response brings the plan back.
    if (errorClass === "transient") return true;
    if (errorClass === "forbidden") return false;
    throw error;
  }
}

/** When to read objects again that no watch shows: soon, and ever more seldom. */
export function collisionRecheckMs(colliding: Colliding | undefined, otherwiseMs: number): number {
  if (colliding === undefined || colliding.isFollowed) return otherwiseMs;
  return Math.min(otherwiseMs, Math.max(soonestMs, colliding.elapsedMs / 2));
}

const soonestMs = 2_000;
