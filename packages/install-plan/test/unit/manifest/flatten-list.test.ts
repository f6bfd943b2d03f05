import { describe, expect, test } from "vitest";

import { flattenList } from "../../../src/manifest/plan-items.ts";

const cm = (name: string): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const nested = (levels: number): object =>
  levels === 0 ? cm("x") : { apiVersion: "v1", kind: "List", items: [nested(levels - 1)] };

describe("flattenList", () => {
  const cases = [
    { name: "keeps an object that is no list", given: cm("a"), want: [cm("a")] },
    {
      name: "takes a List apart in order",
      given: { apiVersion: "v1", kind: "List", items: [cm("b"), cm("a")] },
      want: [cm("b"), cm("a")],
    },
    {
      name: "lets items of a typed list inherit apiVersion and kind",
      given: {
        apiVersion: "v1",
        kind: "ConfigMapList",
        metadata: {},
        items: [{ metadata: { name: "a" } }, cm("b")],
      },
      want: [cm("a"), cm("b")],
    },
    {
      name: "leaves items of a plain List as they are",
      given: { apiVersion: "v1", kind: "List", items: [{ metadata: {} }] },
      want: [{ metadata: {} }],
    },
    { name: "follows lists in lists", given: nested(4), want: [cm("x")] },
    { name: "takes an empty list for nothing", given: { kind: "List", items: [] }, want: [] },
    {
      name: "keeps an object with a name whatever its kind is called",
      given: { kind: "AllowList", metadata: { name: "a" }, items: [1] },
      want: [{ kind: "AllowList", metadata: { name: "a" }, items: [1] }],
    },
    { name: "keeps what is no object", given: "text", want: ["text"] },
  ];
  test.for(cases)("$name", ({ given, want }) => {
    const flattened = flattenList(given);
    expect(flattened.kind === "items" ? flattened.items : flattened).toEqual(want);
  });

  const refused = [
    {
      name: "lists nested deeper than 4",
      given: nested(5),
      want: "lists may be nested at most 4 levels deep",
    },
    {
      name: "more than 5,000 items",
      given: { kind: "List", items: Array(5_001).fill(cm("a")) },
      want: "a list may have at most 5000 objects",
    },
    {
      name: "an item of another kind than the list's",
      given: { apiVersion: "v1", kind: "ConfigMapList", items: [cm("a"), { kind: "Secret" }] },
      want: "items[1] of a ConfigMapList has kind Secret",
    },
  ];
  test.for(refused)("refuses $name", ({ given, want }) => {
    expect(flattenList(given)).toEqual({ kind: "refused", message: want });
  });
});
