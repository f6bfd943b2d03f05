import { describe, expect, test } from "vitest";

import { ApiError } from "../../src/errors.ts";
import { type Ending, nextStep, type WatchState } from "../../src/watch/watch-state.ts";

const responded = new ApiError("500", { class: "transient", status: 500, mayHaveActed: false });
const unconfirmed = new ApiError("reset", { class: "transient", mayHaveActed: false });

interface Row {
  readonly ending: Ending;
  /** What follows while listing and while watching. */
  readonly listing: string;
  readonly watching: string;
}

const rows: readonly Row[] = [
  { ending: { kind: "listed" }, listing: "watching none", watching: "watching none" },
  { ending: { kind: "closed", isEarly: false }, listing: "listing relist", watching: "watching none" },
  { ending: { kind: "closed", isEarly: true }, listing: "listing relist", watching: "watching reconnect" },
  { ending: { kind: "idle" }, listing: "listing none", watching: "watching none" },
  { ending: { kind: "gone" }, listing: "listing relist", watching: "listing relist" },
  { ending: { kind: "versionTooLarge" }, listing: "listing relist", watching: "listing relist" },
  { ending: { kind: "undecodable" }, listing: "listing relist", watching: "listing relist" },
  { ending: { kind: "watchListRefused" }, listing: "listing none", watching: "listing none" },
  { ending: { kind: "notServed" }, listing: "pending untilServed", watching: "pending untilServed" },
  {
    ending: { kind: "failed", error: unconfirmed },
    listing: "listing relist",
    watching: "watching reconnect",
  },
  { ending: { kind: "failed", error: responded }, listing: "listing relist", watching: "watching relist" },
  { ending: { kind: "stopped" }, listing: "stopped none", watching: "stopped none" },
];

describe("what a watch does next", () => {
  test.each(rows)("$ending: $listing, $watching", ({ ending, listing, watching }) => {
    const after = (before: WatchState): string => {
      const { state, pause } = nextStep(before, ending);
      return `${state} ${pause}`;
    };
    expect([after("listing"), after("watching")]).toEqual([listing, watching]);
  });
});
