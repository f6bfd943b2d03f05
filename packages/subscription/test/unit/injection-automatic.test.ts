import { describe, expect, test } from "vitest";

import { aPod, decide, type State } from "../support/injection-cases.ts";

const auto = (secret: string) => ({ isAuto: true, entitlements: [{ name: secret }] });
const scene: State = {
  bundles: { a: auto("sa"), b: auto("sb"), c: auto("sc"), quiet: { entitlements: [{ name: "sq" }] } },
  secrets: { "app/sa": ["a"], "app/sb": ["b"], "app/sc": ["c"], "app/sq": ["q"] },
};
const clusterWide: State = {
  clusterBundles: {
    x: { isAuto: true, entitlements: [{ name: "s", namespace: "vault" }] },
  },
  secrets: { "vault/s": ["x"] },
};

function injectedNames(generations: string | undefined): readonly string[] {
  const { bundles = {}, clusterBundles = {} } = JSON.parse(generations ?? "{}") as Record<string, object>;
  return [...Object.keys(bundles), ...Object.keys(clusterBundles)];
}

describe("always-inject bundles", () => {
  test.each([
    { id: "AC-C1", annotations: {}, want: ["a", "b", "c"] },
    { id: "AC-C3", annotations: { "allow-bundles": "a,b" }, want: ["a", "b"] },
    { id: "AC-C4", annotations: { "deny-bundles": "b,c" }, want: ["a"] },
    { id: "AC-C5", annotations: { "deny-bundles": "*" }, want: [] },
    { id: "AC-C6", annotations: { "allow-bundles": "a,b", "deny-bundles": "b,c" }, want: ["a"] },
    { id: "AC-C7", annotations: { "allow-bundles": "*" }, want: ["a", "b", "c"] },
    { id: "AC-C8", annotations: { "allow-bundles": "quiet,a" }, want: ["a"] },
    { id: "AC-C11", annotations: { "inject-bundle": "a" }, want: ["a", "b", "c"] },
  ])("[subscription-injection/$id] $annotations gives $want", ({ annotations, want }) => {
    const { generations, patch } = decide(aPod({ annotations }), scene);
    expect(injectedNames(generations)).toEqual(want);
    expect(patch.length === 0).toBe(want.length === 0);
  });

  test.each(["false", "True", "TRUE", "1", "yes", "", " true", undefined])(
    "[subscription-injection/AC-C2] the label value %j injects nothing",
    (label) => {
      const bundle = { entitlements: [{ name: "sa" }], ...(label === undefined ? {} : { label }) };
      expect(decide(aPod(), { ...scene, bundles: { a: bundle } }).patch).toEqual([]);
      const ofCluster = {
        entitlements: [{ name: "s", namespace: "vault" }],
        ...(label === undefined ? {} : { label }),
      };
      expect(decide(aPod(), { ...clusterWide, clusterBundles: { x: ofCluster } }).patch).toEqual([]);
    },
  );

  test("[subscription-injection/AC-C17] a label that goes stops the injection in the same generation", () => {
    const bundle = { entitlements: [{ name: "sa" }], generation: 7 };
    const labelled = decide(aPod(), { ...scene, bundles: { a: { ...bundle, label: "true" } } });
    expect(labelled.generations).toBe('{"bundles":{"a":7}}');
    expect(decide(aPod(), { ...scene, bundles: { a: bundle } }).patch).toEqual([]);
  });

  test("[subscription-injection/AC-C9] the lists of the two kinds do not touch each other", () => {
    const both: State = {
      bundles: { x: auto("sa") },
      clusterBundles: clusterWide.clusterBundles ?? {},
      secrets: { ...scene.secrets, ...clusterWide.secrets },
    };
    const one = decide(aPod({ annotations: { "deny-bundles": "*" } }), both).generations;
    expect(one).toBe('{"clusterBundles":{"x":1}}');
    const other = decide(aPod({ annotations: { "deny-cluster-bundles": "*" } }), both).generations;
    expect(other).toBe('{"bundles":{"x":1}}');
  });

  test("[subscription-injection/AC-C10] [security/29] named and denied together: injected with a warning", () => {
    const annotations = { "inject-bundle": "a", "deny-bundles": "*" };
    const { generations, warnings } = decide(aPod({ annotations }), scene);
    expect(injectedNames(generations)).toEqual(["a"]);
    expect(warnings).toEqual(['Bundle "a" is named and denied; it is injected']);
  });

  test.each(["denied", "accessUnknown"])(
    "[subscription-injection/AC-C12] a ClusterBundle with access %s is skipped, and the warning has no name",
    (access) => {
      const { decision, patch, warnings } = decide(aPod(), { ...clusterWide, [access]: ["x"] });
      expect(decision.admission.kind).toBe("allow");
      expect(patch).toEqual([]);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).not.toContain('"x"');
    },
  );

  test("[subscription-injection/AC-C12] with accessPolicy Reject the pod is refused, without the name", () => {
    const { message } = decide(aPod(), {
      ...clusterWide,
      denied: ["x"],
      settings: { accessPolicy: "Reject" },
    });
    expect(message).toContain("AccessDenied");
    expect(message).toContain('service account "default" in "app"');
    expect(message).not.toContain('"x"');
  });

  test("[subscription-injection/AC-C12] with accessPolicy Reject, a question that failed still only skips", () => {
    const { decision } = decide(aPod(), {
      ...clusterWide,
      accessUnknown: ["x"],
      settings: { accessPolicy: "Reject" },
    });
    expect(decision.admission.kind).toBe("allow");
  });

  test.each(["missing", "forbidden", "unknown"] as const)(
    "[subscription-injection/AC-C13] a bundle whose Secret is %s is skipped with a warning",
    (state) => {
      const { generations, warnings } = decide(aPod(), {
        ...scene,
        secrets: { ...scene.secrets, "app/sb": state },
      });
      expect(injectedNames(generations)).toEqual(["a", "c"]);
      expect(warnings.join()).toContain('Bundle "b" is skipped');
    },
  );

  const overlapping: State = { ...scene, secrets: { ...scene.secrets, "app/sb": ["a"] } };

  const rejecting = { settings: { conflictPolicy: "Reject" } } as const;

  test("[subscription-injection/AC-C14] with conflictPolicy Reject two that overlap are refused, and the message says how to leave one out", () => {
    const { message } = decide(aPod(), { ...overlapping, ...rejecting });
    expect(message).toContain('EntitlementKeyConflict: key "a" is provided by bundles "a" and "b"');
    expect(message).toContain('subscription.openshift.io/deny-bundles: "b"');
  });

  test("[subscription-injection/AC-C14] [security/127] by default the later one is skipped", () => {
    const { generations, warnings } = decide(aPod(), overlapping);
    expect(injectedNames(generations)).toEqual(["a", "c"]);
    expect(warnings.join()).toContain('Bundle "b" is skipped: EntitlementKeyConflict');
  });

  test("[subscription-injection/AC-C15] a named one that overlaps a labelled one: refused, or injected alone", () => {
    const annotations = { "inject-bundle": "b" };
    const refused = decide(aPod({ annotations }), { ...overlapping, ...rejecting });
    expect(refused.message).toContain('deny-bundles: "a"');
    const skipping = decide(aPod({ annotations }), overlapping);
    expect(injectedNames(skipping.generations)).toEqual(["b", "c"]);
    const denying = decide(aPod({ annotations: { ...annotations, "deny-bundles": "a" } }), overlapping);
    expect(injectedNames(denying.generations)).toEqual(["b", "c"]);
  });

  test("[security/127] two named ones that overlap are refused", () => {
    const { message } = decide(aPod({ annotations: { "inject-bundle": "a,b" } }), overlapping);
    expect(message).toContain("EntitlementKeyConflict");
  });

  test("of more than 32 labelled bundles the first ones are injected, with a warning", () => {
    const names = Array.from({ length: 40 }, (_, at) => `b${String(at).padStart(2, "0")}`);
    const { generations, warnings } = decide(aPod(), {
      bundles: Object.fromEntries(names.map((name) => [name, auto("sa")])),
      secrets: { "app/sa": ["a"] },
    });
    expect(injectedNames(generations)).toEqual(names.slice(0, 32));
    expect(warnings).toEqual(["only the first 32 always-inject Bundles are injected"]);
  });

  test("[subscription-injection/AC-C18] named ones come first, labelled ones by name", () => {
    const { pod } = decide(aPod({ annotations: { "inject-bundle": "quiet" } }), {
      ...scene,
      bundles: { ...scene.bundles, c: { entitlements: [{ name: "sc" }] } },
    });
    expect(JSON.stringify(pod.spec.volumes)).toMatch(/sq.*sa.*sb/);
  });
});
