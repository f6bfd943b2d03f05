import { allocation } from "../facts/allocation.ts";
import { awaits, type LaneRule, nothingToDo, type SearchLane } from "../lane.ts";
import { searchReasons } from "../reasons.ts";

/**
 * Settings that an operation left in the engine although no operation is recorded any more, as after a restored backup of the API, is taken
 * out again. They are known by the keys that were written together with them; settings without keys belong to others and stay.
 */
const leftover: LaneRule = {
  name: "leftover",
  decide: ({ engine: { settings }, status }) => {
    if (status.operation !== undefined || !settings.isKnown || !allocation.holdsOurs(settings.value))
      return undefined;
    return awaits(
      searchReasons.releasing,
      "Allocation settings of an operation that is over are removed from the engine.",
      { actor: "engine", actions: [{ kind: "releaseAllocation" }], retryAfterMs: 5_000 },
    );
  },
};

/** Settings of the engine that are ours and that nothing needs. */
export const janitorLane: SearchLane = {
  name: "janitor",
  rules: [leftover, { name: "nothingLeft", decide: () => nothingToDo }],
};
