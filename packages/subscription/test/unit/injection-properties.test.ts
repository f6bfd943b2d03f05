import * as fc from "fast-check";
import { expect, test } from "vitest";

import { aPod, decide, withDefaults, type State } from "../support/injection-cases.ts";
import { podArbitrary } from "../support/random-pods.ts";

const state = (settings: object): State => ({
  bundles: {
    local: { entitlements: [{ name: "s1" }], repos: [{ name: "r1" }] },
    renamed: { entitlements: [{ name: "s2", prefix: "second-" }] },
    auto: { isAuto: true, entitlements: [{ name: "s3" }] },
  },
  clusterBundles: {
    cluster: {
      entitlements: [{ name: "s4", namespace: "vault" }],
      repos: [{ name: "r2", namespace: "vault" }],
    },
  },
  secrets: { "app/s1": ["a.pem"], "app/s2": ["a.pem"], "app/s3": ["c.pem"], "vault/s4": ["d.pem"] },
  configMaps: { "app/r1": ["redhat.repo"], "vault/r2": ["more.repo"] },
  settings,
});

const settings = fc.record({
  profile: fc.constantFrom("seed", "sharedresource"),
  repoLayout: fc.constantFrom("auto", "directory", "files"),
  conflictPolicy: fc.constantFrom("Reject", "Skip"),
});

test("[subscription-injection/AC-G8] of 10,000 random pods, applying twice equals applying once", () => {
  let injected = 0;
  fc.assert(
    fc.property(podArbitrary, settings, (pod, chosen) => {
      const first = decide(pod, state(chosen));
      if (first.decision.result === "injected") injected += 1;
      if (first.decision.result === "rejected") return;
      const second = decide(withDefaults(first.pod), state(chosen));
      expect(second.decision.result).not.toBe("rejected");
      expect(second.patch).toEqual([]);
      expect(second.generations).toBe(first.generations);
    }),
    { numRuns: 10_000 },
  );
  expect(injected).toBeGreaterThan(1_000);
});

test("[subscription-injection/AC-G8] the result has no double names and paths, and every mount has its volume", () => {
  fc.assert(
    fc.property(podArbitrary, settings, (pod, chosen) => {
      const { pod: after, decision } = decide(pod, state(chosen));
      if (decision.result === "rejected") return;
      const names = (after.spec.volumes ?? []).map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      for (const { volumeMounts = [] } of [...after.spec.containers, ...(after.spec.initContainers ?? [])]) {
        const mounts = volumeMounts as readonly { readonly name: string; readonly mountPath: string }[];
        expect(new Set(mounts.map(({ mountPath }) => mountPath)).size).toBe(mounts.length);
        expect(mounts.filter(({ name }) => !names.includes(name))).toEqual([]);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("[security/51] annotations of any name survive: slashes and tildes are escaped as RFC 6901 says", () => {
  const names = fc.uniqueArray(
    fc.string({ minLength: 1, unit: fc.constantFrom("/", "~", "0", "1", "a", ".", "%", '"', "\\") }),
    { maxLength: 6 },
  );
  const ours = /^subscription\.openshift\.io\//;
  fc.assert(
    fc.property(names, fc.boolean(), (keys, isForged) => {
      const given = Object.fromEntries(keys.map((key) => [`x/${key}`, key]));
      const forged = isForged ? { "bundle-generations": "{}" } : {};
      const { pod, decision } = decide(
        aPod({ annotations: { ...given, ...forged, "inject-bundle": "local" } }),
        state({}),
      );
      expect(decision.result).toBe("injected");
      const kept = Object.entries(pod.metadata.annotations ?? {}).filter(([key]) => !ours.test(key));
      expect(Object.fromEntries(kept)).toEqual(given);
      expect(pod.metadata.annotations?.["subscription.openshift.io/bundle-generations"]).toBe(
        '{"bundles":{"auto":1,"local":1}}',
      );
    }),
    { numRuns: 500 },
  );
});
