import { defineKind } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import {
  locationOf,
  transformationIssues,
  type Transformed,
} from "../../../src/transformations/transformed.ts";
import { aPlan } from "../../support/plans.ts";

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
    expect(locationOf(from, aPlan("p", { spec: { scope } }), { scope: kind })).toEqual(want);
  });
});

describe("how much transformations may select", () => {
  const plan = aPlan("p", {
    spec: {
      transformations: [
        {
          name: "t",
          from: {
            apiVersion: "v1",
            kind: "ConfigMap",
            labelSelector: "a=b",
            allowUnowned: true,
            maxMatches: 500,
          },
          to: { labelSelector: "a=c" },
        },
      ],
    },
  });
  const [rule] = plan.spec.transformations ?? [];
  const context = { plan, takesOverFrom: new Set<string>(), living: new Map<string, string>() };
  const kind = defineKind({
    group: "",
    version: "v1",
    kind: "ConfigMap",
    plural: "configmaps",
    scope: "Namespaced",
  });

  function selecting(count: number, kept = 0): Transformed {
    if (rule === undefined) throw new Error("no transformation");
    const matches = Array.from({ length: count }, (_, index) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `m-${index}`, namespace: "ns" },
      trace: "",
    }));
    return {
      rule,
      kind,
      matches,
      kept: matches.slice(0, kept).map((live) => ({ live, protectedBy: "it contains data" })),
      late: [],
      unreadable: [],
    };
  }

  test.each([
    { name: "500 in one", given: [selecting(500)], want: [] },
    { name: "more than maxMatches in one", given: [selecting(501)], want: ["in total", "maxMatches"] },
    { name: "500 in two", given: [selecting(250), selecting(250)], want: [] },
    { name: "501 in two", given: [selecting(250), selecting(251)], want: ["in total"] },
    { name: "501 with what is kept", given: [selecting(250), selecting(250, 1)], want: ["in total"] },
  ])("$name", ({ given, want }) => {
    const messages = transformationIssues(given, context).map(({ message }) => message);
    expect(messages).toEqual(want.map((text) => expect.stringContaining(text) as string));
  });
});
