import { describe, expect, test } from "vitest";

import { decideEphemeral } from "../../src/injection/decide-ephemeral.ts";
import { decideInjection } from "../../src/injection/decide-injection.ts";
import { viewPod } from "../../src/injection/pod-view.ts";
import { readSubscriptionSettings, SubscriptionSettingsError } from "../../src/subscription-settings.ts";
import {
  aPod,
  decide,
  ePath,
  factsOf,
  rPath,
  seen,
  type SeenPod,
  tokenMount,
  withDefaults,
  type State,
} from "../support/injection-cases.ts";

const state: State = {
  bundles: {
    local: { entitlements: [{ name: "s1" }], repos: [{ name: "r1" }] },
    plain: { entitlements: [{ name: "s1" }] },
    crossing: { entitlements: [{ name: "s1", namespace: "vault" }] },
    stating: { entitlements: [{ name: "s1", namespace: "app" }] },
    lost: { entitlements: [{ name: "gone" }] },
    locked: { entitlements: [{ name: "locked" }] },
    lax: { entitlements: [{ name: "gone", optional: true }, { name: "s1" }] },
    picky: { entitlements: [{ name: "s1", items: [{ key: "nope", path: "x" }] }] },
  },
  secrets: { "app/s1": ["a.pem"], "app/gone": "missing", "vault/s1": ["a.pem"], "app/locked": "forbidden" },
  configMaps: { "app/r1": ["redhat.repo"] },
};
const autoState: State = {
  bundles: { plain: { isAuto: true, entitlements: [{ name: "s1" }] } },
  secrets: { "app/s1": ["a.pem"] },
};
const naming = (names: string, spec: object = {}): object =>
  aPod({ annotations: { "inject-bundle": names }, spec });
const windows = [{ os: { name: "windows" } }, { nodeSelector: { "kubernetes.io/os": "windows" } }];

describe("kinds of pods", () => {
  test("[subscription-injection/AC-E1] [security/52] a mirror pod is left alone", () => {
    const annotations = { "inject-bundle": "nope", "kubernetes.io/config.mirror": "x" };
    expect(decide(aPod({ annotations }), state).decision.admission).toEqual({ kind: "allow" });
  });

  test.each(windows)(
    "[subscription-injection/AC-E2] [security/52] a Windows pod: refused when named, else skipped",
    (spec) => {
      expect(decide(naming("plain", spec), state).message).toContain("UnsupportedOS");
      expect(decide(aPod({ spec }), autoState).patch).toEqual([]);
    },
  );

  test("[subscription-injection/AC-E3] [security/52] a hostNetwork pod is injected", () => {
    expect(decide(naming("plain", { hostNetwork: true }), state).decision.result).toBe("injected");
  });

  test("[subscription-injection/AC-E9] ephemeral containers of a new pod are not touched", () => {
    const spec = { ephemeralContainers: [{ name: "debug" }] };
    expect(decide(naming("plain", spec), state).pod.spec.ephemeralContainers).toEqual(
      spec.ephemeralContainers,
    );
  });

  test.each([
    { name: "nothing", object: null },
    { name: "a list", object: [] },
    {
      name: "lists that are texts",
      object: { metadata: { annotations: "x" }, spec: { volumes: "x", containers: 1 } },
    },
    { name: "containers that are not objects", object: { spec: { containers: [null, 3, "x"] } } },
  ])("$name instead of a pod does no harm", ({ object }) => {
    for (const each of [state, autoState]) {
      const pod = viewPod(object);
      const { admission } = decideInjection(pod, factsOf(each, pod), readSubscriptionSettings({}));
      expect(admission.kind).toBe("allow");
    }
  });
});

describe("references", () => {
  test("[subscription-injection/AC-E14] another namespace is refused, although its Secret exists", () => {
    const { message } = decide(naming("crossing"), state);
    expect(message).toContain('CrossNamespaceReference: Bundle "crossing"');
    expect(message).not.toContain("vault");
    expect(decide(naming("stating"), state).decision.result).toBe("injected");
  });

  test.each([
    { names: "lost", says: 'ReferenceNotFound: Secret "gone" of Bundle "lost" not found' },
    { names: "picky", says: 'ReferenceNotFound: Secret "s1" of Bundle "picky" has no key "nope"' },
    { names: "locked", says: "ReferenceForbidden: the operator is not permitted to read" },
  ])("[subscription-injection/AC-E15] $says", ({ names, says }) => {
    expect(decide(naming(names), state).message).toContain(says);
  });

  test("[subscription-injection/AC-E16] a missing optional reference is an optional source", () => {
    expect(decide(naming("lax"), state).pod.spec.volumes).toEqual([
      {
        name: "etc-pki-entitlement",
        projected: { sources: [{ secret: { name: "gone", optional: true } }, { secret: { name: "s1" } }] },
      },
    ]);
  });
});

describe("new ephemeral containers", () => {
  const settings = readSubscriptionSettings({});
  const debugged = (pod: SeenPod, debug: object = {}): SeenPod => ({
    ...pod,
    spec: { ...pod.spec, ephemeralContainers: [{ name: "debug", ...debug }] },
  });
  const decideOn = (old: SeenPod, debug: object = {}) =>
    seen(debugged(old, debug), decideEphemeral(debugged(old, debug), old, settings));
  const injectedPod = (names: string, spec: object = {}): SeenPod =>
    withDefaults(decide(naming(names, spec), state).pod);
  const eMount = { name: "etc-pki-entitlement", mountPath: ePath };

  test("[subscription-injection/AC-E6] get the directories of the pod, and nothing else changes", () => {
    const { patch } = decideOn(injectedPod("local"));
    expect(patch).toEqual([
      {
        op: "add",
        path: "/spec/ephemeralContainers/0/volumeMounts",
        value: [{ name: "yum-repo", mountPath: rPath }, eMount],
      },
    ]);
  });

  test("[subscription-injection/AC-E7] get no files, with a warning", () => {
    const mixed = { containers: [{ name: "main", volumeMounts: [tokenMount] }] };
    const { pod, warnings } = decideOn(injectedPod("local", mixed));
    expect(pod.spec.ephemeralContainers?.[0]?.volumeMounts).toEqual([eMount]);
    expect(warnings.join()).toContain("subPath");
  });

  test("[subscription-injection/AC-E8] get nothing in a pod that was not injected", () => {
    const pod = aPod({ spec: { volumes: [{ name: "etc-pki-entitlement", projected: { sources: [] } }] } });
    expect(decideOn(pod as SeenPod).patch).toEqual([]);
  });

  test("[subscription-injection/AC-E6] earlier ones are not touched, and own mounts win", () => {
    const old = debugged(injectedPod("plain"));
    const both = { ...old.spec, ephemeralContainers: [{ name: "debug" }, { name: "second" }] };
    const { patch } = seen({ ...old, spec: both }, decideEphemeral({ ...old, spec: both }, old, settings));
    expect(patch.map(({ path }) => path)).toEqual(["/spec/ephemeralContainers/1/volumeMounts"]);
    const taken = decideOn(injectedPod("plain"), { volumeMounts: [{ name: "mine", mountPath: ePath }] });
    expect(taken.patch).toEqual([]);
  });
});

describe("settings", () => {
  test("have defaults, and a driver by profile", () => {
    expect(readSubscriptionSettings({})).toMatchObject({
      profile: "seed",
      driver: "projected-resource.storage.openshift.io",
      repoLayout: "auto",
      allowedClusterRoles: ["admin", "edit", "view"],
    });
    expect(readSubscriptionSettings({ profile: "sharedresource" }).driver).toBe(
      "csi.sharedresource.openshift.io",
    );
    expect(readSubscriptionSettings({ driver: "mine.example" }).driver).toBe("mine.example");
  });

  test("name every field at fault", () => {
    const invalid = { profile: "none", repoLayout: "spiral", unknown: true };
    expect(() => readSubscriptionSettings(invalid)).toThrow(SubscriptionSettingsError);
    expect(() => readSubscriptionSettings(invalid)).toThrow(/profile.*repoLayout.*unknown/s);
  });
});

test("warnings have at most 120 characters and no control characters", () => {
  const name = "b".repeat(200);
  const { warnings } = decide(aPod({ annotations: { "inject-bundle": name, "deny-bundles": name } }), {
    ...state,
    bundles: { [name]: { entitlements: [{ name: "s1" }] } },
  });
  expect(warnings[0]).toHaveLength(120);
});
