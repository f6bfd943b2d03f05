import { firstDecision } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import type { Resolved } from "../../../src/manifest/resolve-manifest.ts";
import { manifestRules } from "../../../src/manifest/resource-manifest-controller.ts";

const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "shop" } };

const cases: readonly {
  readonly name: string;
  readonly given: Resolved;
  readonly want: { readonly rule: string; readonly outcome: string; readonly status: object };
}[] = [
  {
    name: "content in a Secret is not looked at",
    given: { kind: "unreadable", message: "The content is in Secret s." },
    want: {
      rule: "contentInSecret",
      outcome: "settled",
      status: { reason: "The content is in Secret s." },
    },
  },
  {
    name: "content that cannot be read stalls",
    given: { kind: "invalid", message: "is not JSON" },
    want: { rule: "contentBroken", outcome: "stalled", status: { valid: false, reason: "is not JSON" } },
  },
  {
    name: "content of another digest stalls",
    given: { kind: "changed", message: "other digest" },
    want: { rule: "contentBroken", outcome: "stalled", status: { valid: false, reason: "other digest" } },
  },
  {
    name: "an object without a name stalls",
    given: { kind: "ok", value: { ...configMap, metadata: {} } },
    want: {
      rule: "objectUnsound",
      outcome: "stalled",
      status: { valid: false, reason: "metadata.name is required" },
    },
  },
  {
    name: "a list stalls",
    given: { kind: "ok", value: { apiVersion: "v1", kind: "List", items: [configMap] } },
    want: {
      rule: "objectUnsound",
      outcome: "stalled",
      status: { valid: false, reason: "contains a list; a ResourceManifest holds exactly one object" },
    },
  },
  {
    name: "a sound object is named",
    given: { kind: "ok", value: configMap },
    want: {
      rule: "sound",
      outcome: "settled",
      status: {
        valid: true,
        reason: "Holds ConfigMap shop/c.",
        objectRef: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "c" },
      },
    },
  },
];

describe("how a ResourceManifest stands", () => {
  test.each(cases)("$name", ({ given, want }) => {
    const { rule, verdict } = firstDecision(manifestRules, given, new Date(0));
    expect({ rule: rule.name, outcome: verdict.outcome.kind, status: verdict.status }).toEqual(want);
    expect(verdict.actions).toEqual([]);
  });
});
