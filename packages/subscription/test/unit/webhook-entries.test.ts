import type { ReadStore, WebhookSpec } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { subscriptionDomain } from "../../src/index.ts";
import { webhookEntries } from "../../src/webhook-entries.ts";

interface Labelled {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

function storeOf(namespaces: readonly (string | undefined)[]): ReadStore {
  const objects = namespaces.map((namespace): Labelled => {
    const name = "b";
    return { metadata: namespace === undefined ? { name } : { name, namespace } };
  });
  return { size: objects.length, list: () => objects, isSynced: true } as unknown as ReadStore;
}

function automatic(
  bundles: ReadStore | undefined,
  clusterBundles: ReadStore | undefined,
): readonly WebhookSpec[] | undefined {
  const [, auto] = webhookEntries({ excludedNamespaces: ["kube-system"] });
  if (auto === undefined || !("requests" in auto.webhooks)) throw new Error("not derived");
  return auto.webhooks.from([bundles, clusterBundles]);
}

const key = "kubernetes.io/metadata.name";
const excluded = { key, operator: "NotIn", values: ["kube-system"] };
const among = (...values: readonly string[]): object => ({ key, operator: "In", values });
const many = Array.from({ length: 2_001 }, (_, index) => `n${index}`);
const [none, one] = [storeOf([]), storeOf([undefined])];

describe("namespaces whose pods the automatic webhook is called for", () => {
  test.each([
    { name: "none without a label", given: [none, none], want: [] },
    {
      name: "those of Bundles, once each",
      given: [storeOf(["b", "a", "b"]), none],
      want: [[excluded, among("a", "b")]],
    },
    { name: "all with a ClusterBundle", given: [storeOf(["a"]), one], want: [[excluded]] },
    {
      name: "all when there are more than a selector should hold",
      given: [storeOf(many), none],
      want: [[excluded]],
    },
    { name: "unknown while neither store is filled", given: [undefined, undefined], want: undefined },
    { name: "unknown while one store is filled and has none", given: [none, undefined], want: undefined },
    { name: "all as soon as a ClusterBundle is known", given: [undefined, one], want: [[excluded]] },
  ] as const)("[security/123] $name", ({ given: [bundles, clusterBundles], want }) => {
    const selectors = automatic(bundles, clusterBundles)?.map(
      ({ namespaceSelector }) =>
        (namespaceSelector as { readonly matchExpressions: unknown }).matchExpressions,
    );
    expect(selectors).toEqual(want);
  });
});

test("[security/120] no webhook is called for pods of the share driver or of the operator", () => {
  const host = { series: { counter: () => 0, gauge: () => 0 } };
  const { configurations } =
    subscriptionDomain({ operatorNamespace: "home" }).webhooks?.(host as never) ?? {};
  const all = (configurations ?? []).flatMap(({ webhooks }) =>
    "requests" in webhooks ? (webhooks.from([none, one]) ?? []) : webhooks,
  );
  expect(all).toHaveLength(4);
  for (const { namespaceSelector } of all) {
    const text = JSON.stringify(namespaceSelector);
    expect(text).toContain("quartermaster-share-driver");
    expect(text).toContain('"home"');
  }
  const [critical] = all.filter(({ name }) => name.startsWith("auto."));
  expect(JSON.stringify(critical?.matchConditions)).toContain("system-node-critical");
});
