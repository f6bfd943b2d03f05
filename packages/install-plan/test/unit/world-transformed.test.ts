import { describe, expect, test } from "vitest";

import { placeOf } from "../../src/world/transformed.ts";
import { aPlan } from "../support/plans.ts";

describe("where a transformation looks", () => {
  const cases: readonly {
    readonly name: string;
    readonly given: {
      readonly scope: "Namespace" | "Cluster";
      readonly kind: "Namespaced" | "Cluster";
      readonly namespace?: string;
    };
    readonly want: object | undefined;
  }[] = [
    { name: "no namespace", given: { scope: "Namespace", kind: "Namespaced" }, want: { namespace: "ns" } },
    {
      name: "an empty namespace",
      given: { scope: "Namespace", kind: "Namespaced", namespace: "" },
      want: { namespace: "ns" },
    },
    {
      name: "the plan's own namespace",
      given: { scope: "Namespace", kind: "Namespaced", namespace: "ns" },
      want: { namespace: "ns" },
    },
    {
      name: "another namespace",
      given: { scope: "Namespace", kind: "Namespaced", namespace: "other" },
      want: undefined,
    },
    { name: "a cluster-wide kind", given: { scope: "Namespace", kind: "Cluster" }, want: undefined },
    {
      name: "an empty namespace in scope Cluster",
      given: { scope: "Cluster", kind: "Namespaced", namespace: "" },
      want: { namespace: "ns" },
    },
    {
      name: "another namespace in scope Cluster",
      given: { scope: "Cluster", kind: "Namespaced", namespace: "other" },
      want: { namespace: "other" },
    },
    { name: "a cluster-wide kind in scope Cluster", given: { scope: "Cluster", kind: "Cluster" }, want: {} },
  ];

  test.each(cases)("$name", ({ given: { scope, kind, namespace }, want }) => {
    const from = namespace === undefined ? {} : { namespace };
    expect(placeOf(from, aPlan("p", { spec: { scope } }), { scope: kind })).toEqual(want);
  });
});
