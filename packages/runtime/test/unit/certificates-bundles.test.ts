import { describe, expect, test } from "vitest";

import { isAboutBundles } from "../../src/certificates/bundle-target.ts";
import type { InformerEvent } from "../../src/informers/informer-event.ts";
import { asLive, type Live } from "../../src/object/kube-object.ts";

function configuration(...bundles: readonly string[]): Live {
  const webhooks = bundles.map((caBundle, at) => ({ name: String(at), clientConfig: { caBundle } }));
  const parts = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    webhooks,
  };
  return asLive({ ...parts, metadata: { name: "x" } });
}

function definition(caBundle: string): Live {
  const spec = { conversion: { webhook: { clientConfig: { caBundle } } } };
  const parts = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", spec };
  return asLive({ ...parts, metadata: { name: "x" } });
}

function updated(old: Live, now: Live): InformerEvent {
  return { type: "updated", isInitial: false, old, new: now };
}

const cases: readonly { readonly name: string; readonly given: InformerEvent; readonly want: boolean }[] = [
  {
    name: "what is there at the start: the first look sees to it",
    given: { type: "added", isInitial: true, new: configuration("a") },
    want: false,
  },
  {
    name: "a target that came back",
    given: { type: "added", isInitial: false, new: configuration("") },
    want: true,
  },
  {
    name: "a target that went away",
    given: { type: "deleted", isInitial: false, old: configuration("a") },
    want: false,
  },
  { name: "an edit of something else", given: updated(configuration("a"), configuration("a")), want: false },
  { name: "an edited bundle", given: updated(configuration("a"), configuration("b")), want: true },
  { name: "one more webhook", given: updated(configuration("a"), configuration("a", "")), want: true },
  { name: "a conversion's edited bundle", given: updated(definition("a"), definition("b")), want: true },
  { name: "a conversion's same bundle", given: updated(definition("a"), definition("a")), want: false },
];

describe("whether an event is about bundles", () => {
  test.each(cases)("$name: $want", ({ given, want }) => {
    expect(isAboutBundles(given)).toBe(want);
  });
});
