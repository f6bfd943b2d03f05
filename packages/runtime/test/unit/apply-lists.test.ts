import { expect, test } from "vitest";

import { isAsApplied } from "../../src/apply/apply-owned.ts";
import { deployments } from "../../src/kinds/workloads.ts";

const names = ["a", "b", "c", "d"];

/** A Deployment whose pod gets these arguments. */
function withArgs(args: readonly string[], more: object = {}) {
  return {
    apiVersion: "apps/v1",
    kind: deployments.kind,
    metadata: { name: "one" },
    spec: { paused: true, template: { spec: { containers: [{ name: "c", args, ...more }] } } },
  };
}

const managedFields = [
  { manager: "copies", operation: "Apply", fieldsV1: { "f:spec": { "f:paused": {}, "f:template": {} } } },
];

function isApplied(wanted: object, live: object): boolean {
  return isAsApplied(
    wanted,
    { ...withArgs([]), ...live, metadata: { name: "one", managedFields } },
    { fieldManager: "copies" },
  );
}

test.each([1, 2, 3, 4])(
  "a list of %i items is as applied only with exactly these items in this order",
  (count) => {
    const args = names.slice(0, count);
    expect(isApplied(withArgs(args), withArgs(args))).toBe(true);
    expect(isApplied(withArgs(args), withArgs([...args, "more"]))).toBe(false);
    expect(isApplied(withArgs(args), withArgs(args.slice(1)))).toBe(false);
    expect(isApplied(withArgs(args), withArgs(args.toReversed()))).toBe(count === 1);
    expect(isApplied(withArgs(args), withArgs(args, { image: "added by the server" }))).toBe(true);
  },
);
