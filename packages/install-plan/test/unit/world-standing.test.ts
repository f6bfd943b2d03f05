import { describe, expect, test } from "vitest";

import { identityKey } from "../../src/identity.ts";
import { objectAnnotation, planId, planIdLabel } from "../../src/marks.ts";
import { standingOf } from "../../src/world/standing.ts";
import { aPlan } from "../support/plans.ts";

const plan = aPlan("p");
const neighbour = { namespace: "ns", name: "neighbour", uid: "uid-neighbour" };
const stranger = { namespace: "far", name: "stranger", uid: "uid-stranger" };
const namesake = { namespace: "ns-2", name: "namesake", uid: "uid-namesake" };
const living = new Map(
  [neighbour, stranger, namesake].map((owner) => [planId(owner), `${owner.namespace}/${owner.name}`]),
);

describe("whose an object is, in words that the plan's author may read", () => {
  test.each([
    { name: "a plan of the namespace is named", owner: neighbour, want: "plan ns/neighbour" },
    { name: "a plan elsewhere is not", owner: stranger, want: "a plan of another namespace" },
    {
      name: "nor one of a namespace that begins alike",
      owner: namesake,
      want: "a plan of another namespace",
    },
  ])("$name", ({ owner, want }) => {
    const identity = { apiVersion: "v1", kind: "ConfigMap", namespace: "ns", name: "c" };
    const live = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "c",
        namespace: "ns",
        labels: { [planIdLabel]: planId(owner) },
        annotations: { [objectAnnotation]: identityKey(identity) },
      },
    };
    expect(standingOf(live, { plan, heirOf: new Set(), living })).toEqual({ kind: "foreign", owner: want });
  });
});
