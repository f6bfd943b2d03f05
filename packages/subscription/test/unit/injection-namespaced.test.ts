import { describe, expect, test } from "vitest";

import { aPod, decide, ePath, rPath, type State } from "../support/injection-cases.ts";

const two: State = {
  bundles: {
    local: { generation: 2, entitlements: [{ name: "local-entitlement" }], repos: [{ name: "local-repo" }] },
    driver: {
      generation: 3,
      entitlements: [{ name: "driver-entitlement" }],
      repos: [{ name: "driver-repo" }],
    },
  },
  secrets: { "app/local-entitlement": ["a.pem"], "app/driver-entitlement": ["b.pem"] },
  configMaps: { "app/local-repo": ["redhat.repo"], "app/driver-repo": ["driver.repo"] },
};

const one: State = {
  bundles: { local: { generation: 2, entitlements: [{ name: "local-entitlement" }] } },
  secrets: { "app/local-entitlement": ["a.pem"] },
};

const eMount = { name: "etc-pki-entitlement", mountPath: ePath };

describe("Bundles that a pod names", () => {
  test("[subscription-injection/AC-A1] nothing named and nothing labelled: allowed without a patch", () => {
    const { decision, patch } = decide(aPod(), two);
    expect(decision.admission).toEqual({ kind: "allow" });
    expect(patch).toEqual([]);
  });

  test("[subscription-injection/AC-A2] one entitlement: projected volume, mount in each container, generation", () => {
    const spec = { containers: [{ name: "a" }, { name: "b" }] };
    const { pod, generations } = decide(aPod({ annotations: { "inject-bundle": "local" }, spec }), one);
    expect(pod.spec.volumes).toEqual([
      { name: "etc-pki-entitlement", projected: { sources: [{ secret: { name: "local-entitlement" } }] } },
    ]);
    expect(pod.spec.containers.map(({ volumeMounts }) => volumeMounts)).toEqual([[eMount], [eMount]]);
    expect(generations).toBe('{"bundles":{"local":2}}');
  });

  test("[subscription-injection/AC-A3,AC-A25] the example of the seed, field by field and without readOnly", () => {
    const { pod, generations } = decide(aPod({ annotations: { "inject-bundle": "local,driver" } }), two);
    expect(pod.spec.volumes).toEqual([
      {
        name: "yum-repo",
        projected: {
          sources: [{ configMap: { name: "local-repo" } }, { configMap: { name: "driver-repo" } }],
        },
      },
      {
        name: "etc-pki-entitlement",
        projected: {
          sources: [{ secret: { name: "local-entitlement" } }, { secret: { name: "driver-entitlement" } }],
        },
      },
    ]);
    expect(pod.spec.containers[0]?.volumeMounts).toEqual([{ name: "yum-repo", mountPath: rPath }, eMount]);
    expect(JSON.parse(generations ?? "")).toEqual({ bundles: { local: 2, driver: 3 } });
  });

  test("[subscription-injection/AC-A4] sources are in the order of the annotation", () => {
    const { pod } = decide(aPod({ annotations: { "inject-bundle": "driver,local" } }), two);
    expect(JSON.stringify(pod.spec.volumes)).toMatch(
      /driver-repo.*local-repo.*driver-entitlement.*local-entitlement/,
    );
  });

  test.each([
    { id: "AC-A5", names: "nope" },
    { id: "AC-A6", names: "local,nope" },
    { id: "AC-A7", names: "nope" },
    { id: "AC-A18", names: "nope" },
  ])("[subscription-injection/$id] an unknown bundle among $names is refused by its name", ({ names }) => {
    const { decision, message, patch } = decide(aPod({ annotations: { "inject-bundle": names } }), two);
    expect(message).toBe(
      'subscription injection: BundleNotFound: Bundle "nope" not found in namespace "app"',
    );
    expect(decision.admission).toMatchObject({
      kind: "deny",
      code: 403,
      causes: [{ reason: "BundleNotFound" }],
    });
    expect(patch).toEqual([]);
  });

  test.each([
    {
      id: "AC-A8",
      says: 'EntitlementKeyConflict: key "x.pem" is provided by bundles "a" and "b"',
      state: {
        bundles: { a: { entitlements: [{ name: "s1" }] }, b: { entitlements: [{ name: "s2" }] } },
        secrets: { "app/s1": ["x.pem"], "app/s2": ["x.pem"] },
      },
    },
    {
      id: "AC-A9",
      says: 'EntitlementKeyConflict: key "x.pem" is provided by two objects of bundle "b"',
      state: {
        bundles: {
          a: { entitlements: [{ name: "s3" }] },
          b: { entitlements: [{ name: "s1" }, { name: "s2" }] },
        },
        secrets: { "app/s1": ["x.pem"], "app/s2": ["x.pem"], "app/s3": ["y.pem"] },
      },
    },
    {
      id: "AC-A10",
      says: 'RepositoryKeyConflict: key "redhat.repo" is provided by bundles "a" and "b"',
      state: {
        bundles: { a: { repos: [{ name: "r1" }] }, b: { repos: [{ name: "r2" }] } },
        configMaps: { "app/r1": ["redhat.repo"], "app/r2": ["redhat.repo"] },
      },
    },
  ])("[subscription-injection/$id] $says", ({ says, state }) => {
    const { message } = decide(aPod({ annotations: { "inject-bundle": "a,b" } }), state);
    expect(message).toContain(says);
    expect(message).toContain("items or a prefix");
  });

  test("[subscription-injection/AC-A10] a repository cannot have the name of the entitlements' directory", () => {
    const { message } = decide(aPod({ annotations: { "inject-bundle": "a" } }), {
      bundles: { a: { repos: [{ name: "r" }] } },
      configMaps: { "app/r": ["etc-pki-entitlement"] },
    });
    expect(message).toContain('RepositoryKeyConflict: key "etc-pki-entitlement" of Bundle "a"');
  });

  test("[subscription-injection/AC-A11] one key in a Secret and in a ConfigMap is no conflict", () => {
    const { decision } = decide(aPod({ annotations: { "inject-bundle": "a" } }), {
      bundles: { a: { entitlements: [{ name: "s" }], repos: [{ name: "r" }] } },
      secrets: { "app/s": ["same"] },
      configMaps: { "app/r": ["same"] },
    });
    expect(decision.result).toBe("injected");
  });

  test("[subscription-injection/AC-A12] two bundles with one Secret: one source, both recorded", () => {
    const { pod, generations } = decide(aPod({ annotations: { "inject-bundle": "a,b" } }), {
      bundles: { a: { entitlements: [{ name: "s" }] }, b: { entitlements: [{ name: "s" }] } },
      secrets: { "app/s": ["x.pem"] },
    });
    expect(pod.spec.volumes).toMatchObject([{ projected: { sources: [{ secret: { name: "s" } }] } }]);
    expect(generations).toBe('{"bundles":{"a":1,"b":1}}');
  });

  test.each([
    { id: "AC-A13", init: { name: "init" } },
    { id: "AC-A14", init: { name: "sidecar", restartPolicy: "Always" } },
  ])("[subscription-injection/$id] init container $init.name gets the mount too", ({ init }) => {
    const spec = { initContainers: [init] };
    const { pod } = decide(aPod({ annotations: { "inject-bundle": "local" }, spec }), one);
    expect(pod.spec.initContainers?.[0]?.volumeMounts).toEqual([eMount]);
  });

  test("[subscription-injection/AC-A15] a bundle of only repositories makes only their volume", () => {
    const { pod } = decide(aPod({ annotations: { "inject-bundle": "r" } }), {
      bundles: { r: { repos: [{ name: "r" }] } },
      configMaps: { "app/r": ["redhat.repo"] },
    });
    expect(pod.spec.volumes?.map(({ name }) => name)).toEqual(["yum-repo"]);
  });

  test("[subscription-injection/AC-A17] a new generation with a new Secret is what the next pod gets", () => {
    const { pod, generations } = decide(aPod({ annotations: { "inject-bundle": "local" } }), {
      bundles: { local: { generation: 4, entitlements: [{ name: "newer" }] } },
      secrets: { "app/newer": ["a.pem"] },
    });
    expect(JSON.stringify(pod.spec.volumes)).toContain("newer");
    expect(generations).toBe('{"bundles":{"local":4}}');
  });

  test.each([
    { id: "AC-A20", names: " local , , driver ", want: { local: 2, driver: 3 } },
    { id: "AC-A21", names: "local,local", want: { local: 2 } },
  ])("[subscription-injection/$id] $names counts as it is meant", ({ names, want }) => {
    const { generations } = decide(aPod({ annotations: { "inject-bundle": names } }), two);
    expect(JSON.parse(generations ?? "")).toEqual({ bundles: want });
  });

  test("[subscription-injection/AC-A22] an empty annotation gives no patch", () => {
    expect(decide(aPod({ annotations: { "inject-bundle": "" } }), two).patch).toEqual([]);
  });

  test.each([
    { id: "subscription-injection/AC-A23", names: "Not_A_Name" },
    { id: "security/27", names: "other/local" },
    { id: "security/27", names: "../local" },
    { id: "security/28", names: "lоcal" },
    { id: "security/28", names: "*" },
    { id: "security/28", names: ",".repeat(50_000) },
    { id: "security/28", names: Array.from({ length: 33 }, (_, at) => `b${at}`).join(",") },
  ])("[$id] a malformed annotation is a bad request", ({ names }) => {
    const { decision, message } = decide(aPod({ annotations: { "inject-bundle": names } }), two);
    expect(decision.admission).toMatchObject({ kind: "deny", code: 400, reason: "BadRequest" });
    expect(message).toContain("InvalidAnnotation");
    expect(message.length).toBeLessThan(250);
  });

  test("modes of bundles are combined bit by bit", () => {
    const { pod } = decide(aPod({ annotations: { "inject-bundle": "a,b" } }), {
      bundles: {
        a: { entitlements: [{ name: "s1" }], defaultMode: 0o440 },
        b: { entitlements: [{ name: "s2" }] },
      },
      secrets: { "app/s1": ["x"], "app/s2": ["y"] },
    });
    expect(pod.spec.volumes).toMatchObject([{ projected: { defaultMode: 0o440 } }]);
  });
});
