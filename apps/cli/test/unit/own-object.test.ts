import { expect, test } from "vitest";

import { actingOperators, finalizersWithoutOurs } from "../../src/cluster/own-object.ts";

test.each([
  { name: "none", finalizers: [], want: undefined },
  { name: "ours", finalizers: ["install.quartermaster.dev/clean-up"], want: [] },
  { name: "ours, of search", finalizers: ["search.quartermaster.dev/cluster"], want: [] },
  { name: "another client's", finalizers: ["backup.example.org/keep"], want: undefined },
  {
    name: "ours among others, whose order stays",
    finalizers: ["b.example.org/x", "install.quartermaster.dev/clean-up", "a.example.org/y"],
    want: ["b.example.org/x", "a.example.org/y"],
  },
  { name: "one that only ends alike", finalizers: ["notquartermaster.dev/clean-up"], want: undefined },
  { name: "one that only begins alike", finalizers: ["quartermaster.dev.example.org/x"], want: undefined },
  { name: "one without a domain", finalizers: ["orphan", "quartermaster.dev"], want: undefined },
])("of $name, ours are released and no others", ({ finalizers, want }) => {
  expect(finalizersWithoutOurs({ finalizers })).toEqual(want);
});

const lease = { namespace: "quartermaster", holder: "pod", renewedMs: 100_000, durationMs: 15_000 };

test.each([
  { name: "renewed a moment ago", given: lease, nowMs: 101_000, want: ["quartermaster"] },
  { name: "renewed almost two durations ago", given: lease, nowMs: 129_999, want: ["quartermaster"] },
  { name: "not renewed for two durations", given: lease, nowMs: 130_000, want: [] },
  { name: "given back", given: { ...lease, holder: "" }, nowMs: 101_000, want: [] },
  { name: "never held", given: { ...lease, holder: undefined }, nowMs: 101_000, want: [] },
  { name: "never renewed", given: { ...lease, renewedMs: undefined }, nowMs: 101_000, want: [] },
])("an operator whose lease was $name acts: $want", ({ given, nowMs, want }) => {
  expect(actingOperators([given], nowMs)).toEqual(want);
});
