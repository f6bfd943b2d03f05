import type { KubeObject } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { liveTrace, metadataTrace } from "../../../src/preflight/preflight.ts";

const metadata = { name: "o", namespace: "ns", uid: "1", resourceVersion: "1" };

function object(more: object, meta: object = {}): KubeObject {
  return { apiVersion: "v1", kind: "Any", metadata: { ...metadata, ...meta }, ...more };
}

describe("what a preview would have to show", () => {
  const cases = [
    { name: "another object of the name", one: object({}), other: object({}, { uid: "2" }), want: true },
    {
      name: "a kind without generation and status, such as ConfigMaps",
      one: object({}),
      other: object({}, { resourceVersion: "2" }),
      want: true,
    },
    {
      name: "the status of a kind without generation, such as Services",
      one: object({ status: { a: 1 } }),
      other: object({ status: { a: 2 } }, { resourceVersion: "2" }),
      want: false,
    },
    {
      name: "the spec of a kind without generation",
      one: object({ spec: { a: 1 }, status: {} }),
      other: object({ spec: { a: 2 }, status: {} }, { resourceVersion: "2" }),
      want: true,
    },
    {
      name: "a pod template, which stores do not keep",
      one: object({ status: {} }, { generation: 1 }),
      other: object({ status: {} }, { generation: 2 }),
      want: true,
    },
    {
      name: "a status beside a generation",
      one: object({ status: { a: 1 } }, { generation: 1 }),
      other: object({ status: { a: 2 } }, { generation: 1, resourceVersion: "2" }),
      want: false,
    },
    {
      name: "a label",
      one: object({}, { generation: 1 }),
      other: object({}, { generation: 1, labels: { a: "b" } }),
      want: true,
    },
    {
      name: "who owns which field",
      one: object({}, { generation: 1 }),
      other: object({}, { generation: 1, resourceVersion: "2", managedFields: [{ manager: "m" }] }),
      want: false,
    },
  ];
  test.each(cases)("$name: $want", ({ one, other, want }) => {
    expect(liveTrace(one) !== liveTrace(other)).toBe(want);
  });

  test.each([
    { name: "a version without generation", meta: { resourceVersion: "2" }, want: true },
    { name: "a label", meta: { labels: { a: "b" } }, want: true },
    { name: "an annotation", meta: { annotations: { a: "b" } }, want: false },
  ])("of metadata alone: $name: $want", ({ meta, want }) => {
    expect(metadataTrace(object({})) !== metadataTrace(object({}, meta))).toBe(want);
  });
});
