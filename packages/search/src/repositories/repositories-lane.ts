import { isDeepStrictEqual } from "node:util";

import { settled, stalled, waiting } from "@quartermaster/runtime";

import type { LaneAnswer, LaneRule, SearchLane } from "../lane.ts";
import { searchReasons } from "../reasons.ts";
import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { isRepositoriesAsked, planRepositories } from "./plan-repositories.ts";

/** Time for the record to be written and read back; and for the engine to be asked what a write came to. */
const [nextPassMs, nextSampleMs] = [20, 1_000];

const asDeclared: LaneRule = {
  name: "asDeclared",
  answer: (seen) => (isRepositoriesAsked(seen) ? undefined : { actions: [], outcome: settled() }),
};

/** A failed or missing read means that nothing is done. */
const awaitRead: LaneRule = {
  name: "awaitRead",
  answer: ({ engine: { repositories } }) =>
    repositories.isKnown
      ? undefined
      : {
          actions: [],
          outcome: waiting(
            {
              reason: searchReasons.repositoriesPending,
              message: "The engine has not told yet which snapshot repositories it has.",
            },
            30_000,
          ),
          actor: "engine",
        },
};

const keepRepositories: LaneRule = {
  name: "keepRepositories",
  answer: (seen) => {
    const { repositories } = seen.engine;
    if (!repositories.isKnown) return undefined;
    const plan = planRepositories(seen, repositories.value);
    const { put, verify, drop, conflicts, left, before, after } = plan;
    const hasActs = put.length + verify.length + drop.length > 0;
    const actions: readonly SearchAction[] = [
      ...(hasActs ? [{ kind: "keepRepositories" as const, put, verify, drop }] : []),
      ...left.map(stays),
    ];
    return {
      actions,
      intent: { repositories: [...after] },
      intentIfFailed: { repositories: [...before] },
      ...outcomeOf(seen, { conflicts, hasActs, isMoving: hasActs || !isSame(seen, after) }),
    };
  },
};

function isSame({ status }: Seen, record: readonly object[]): boolean {
  return isDeepStrictEqual(status.repositories ?? [], record);
}

interface Findings {
  readonly conflicts: readonly string[];
  readonly hasActs: boolean;
  readonly isMoving: boolean;
}

function outcomeOf(
  { cluster }: Seen,
  { conflicts, hasActs, isMoving }: Findings,
): Pick<LaneAnswer, "outcome" | "actor"> {
  if (isMoving) {
    const names = cluster.repositories.map(({ name }) => name);
    const message =
      names.length === 0
        ? "Snapshot repositories that are no longer declared are deregistered."
        : `Snapshot repositories are registered: ${names.slice(0, 10).join(", ")}.`;
    return {
      outcome: waiting(
        { reason: searchReasons.repositoriesPending, message },
        hasActs ? nextSampleMs : nextPassMs,
      ),
      actor: "operator",
    };
  }
  if (conflicts.length === 0) return { outcome: settled() };
  return {
    outcome: stalled(
      {
        reason: searchReasons.repositoryConflict,
        message: `The engine has other repositories of these names, which the operator did not register or which were changed since: ${conflicts.slice(0, 10).join(", ")}. Choose other names in spec.general.snapshotRepositories, or delete those from the engine.`,
      },
      60_000,
    ),
    actor: "user",
  };
}

function stays(name: string): SearchAction {
  return {
    kind: "record",
    event: {
      type: "Warning",
      reason: "RepositoryLeft",
      action: "DeregisterRepository",
      note: `Repository ${name} is no longer declared, but was changed by somebody else: it stays registered.`,
    },
  };
}

/** Snapshot repositories: registered, tried out, and deregistered only if ours. */
export const repositoriesLane: SearchLane = {
  name: "repositories",
  rules: [asDeclared, awaitRead, keepRepositories],
};
