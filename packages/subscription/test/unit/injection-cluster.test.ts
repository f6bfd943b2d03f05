import { describe, expect, test } from "vitest";

import { aPod, decide, ePath, rPath, type State } from "../support/injection-cases.ts";

const entitlement = (name: string) => ({ name, namespace: "vault" });
const state: State = {
  clusterBundles: {
    cluster: { entitlements: [entitlement("s1")], repos: [entitlement("r1")] },
    extra: { generation: 4, entitlements: [entitlement("s2")], repos: [entitlement("r2")] },
    plain: { entitlements: [entitlement("s1")] },
    other: { entitlements: [entitlement("s2")] },
    same: { entitlements: [entitlement("s3")] },
  },
  secrets: { "vault/s1": ["a.pem"], "vault/s2": ["b.pem"], "vault/s3": ["a.pem"] },
  configMaps: { "vault/r1": ["redhat.repo"], "vault/r2": ["extra.repo"] },
};
const naming = (names: string): object => aPod({ annotations: { "inject-cluster-bundle": names } });
const driver = "projected-resource.storage.openshift.io";
const sharedresource = { settings: { profile: "sharedresource" } };

describe("ClusterBundles that a pod names", () => {
  test("[subscription-injection/AC-B1] CSI volume, mount and generation", () => {
    const { pod, generations } = decide(naming("plain"), state);
    expect(pod.spec.volumes).toEqual([
      {
        name: "etc-pki-entitlement",
        csi: {
          driver,
          readOnly: true,
          volumeAttributes: { sources: '[{"share":{"name":"plain-subscription-entitlement"}}]' },
        },
      },
    ]);
    expect(pod.spec.containers[0]?.volumeMounts).toEqual([
      { name: "etc-pki-entitlement", mountPath: ePath, readOnly: true },
    ]);
    expect(generations).toBe('{"clusterBundles":{"plain":1}}');
  });

  test("[subscription-injection/AC-B2] two bundles in profile seed: sources as JSON text", () => {
    const { pod, generations } = decide(naming("cluster,extra"), state);
    expect(pod.spec.volumes).toMatchObject([
      {
        name: "yum-repo",
        csi: {
          volumeAttributes: {
            sources:
              '[{"share":{"name":"cluster-subscription-yumrepository"}},{"share":{"name":"extra-subscription-yumrepository"}}]',
          },
        },
      },
      {
        name: "etc-pki-entitlement",
        csi: {
          volumeAttributes: {
            sources:
              '[{"share":{"name":"cluster-subscription-entitlement"}},{"share":{"name":"extra-subscription-entitlement"}}]',
          },
        },
      },
    ]);
    expect(pod.spec.containers[0]?.volumeMounts).toMatchObject([{ mountPath: rPath }, { mountPath: ePath }]);
    expect(generations).toBe('{"clusterBundles":{"cluster":1,"extra":4}}');
  });

  test("[subscription-injection/AC-B3,AC-B5] without permission one text, whether the bundle exists or not", () => {
    const text = (name: string): string =>
      decide(naming(name), { ...state, denied: ["plain", "absent"] }).message;
    expect(text("plain")).toContain(
      'AccessDenied: ClusterBundle "plain" not found or not permitted for service account "default" in "app"',
    );
    expect(text("absent")).toBe(text("plain").replace("plain", "absent"));
  });

  test("[subscription-injection/AC-B4] absent, with permission by name", () => {
    expect(decide(naming("missing"), state).message).toContain(
      'ClusterBundleNotFound: ClusterBundle "missing" not found',
    );
  });

  test("[subscription-injection/AC-B11] a conflict names bundles and key, but no Secret", () => {
    const { message } = decide(naming("plain,same"), state);
    expect(message).toContain(
      'EntitlementKeyConflict: key "a.pem" is provided by cluster bundles "plain" and "same"',
    );
    expect(message).not.toMatch(/s1|s3|vault/);
  });

  test("[subscription-injection/AC-B12] an invalid bundle is refused with its reason, not its message", () => {
    const conditions = [
      { type: "Invalid", status: "True", reason: "ReferenceNotFound", message: "Secret vault/s1 not found" },
    ];
    const { message } = decide(naming("bad"), {
      ...state,
      clusterBundles: { bad: { entitlements: [entitlement("s1")], conditions } },
    });
    expect(message).toContain('BundleInvalid: ClusterBundle "bad" is invalid (ReferenceNotFound)');
    expect(message).not.toContain("vault");
  });

  test.each([
    { name: "no Share yet", given: { shares: [] } },
    {
      name: "no driver",
      given: { conditions: [{ type: "DriverUnavailable", status: "True", reason: "NoApi" }] },
    },
  ])("[subscription-injection/AC-B13] $name: not ready, retry", ({ given }) => {
    const { message } = decide(naming("late"), {
      ...state,
      clusterBundles: { late: { entitlements: [entitlement("s1")], ...given } },
    });
    expect(message).toContain('BundleNotReady: ClusterBundle "late" is not ready yet; retry');
  });

  test("[subscription-injection/AC-B15] profile sharedresource, one share: a directory", () => {
    const { pod } = decide(naming("plain"), { ...state, ...sharedresource });
    expect(pod.spec.volumes).toEqual([
      {
        name: "etc-pki-entitlement",
        csi: {
          driver: "csi.sharedresource.openshift.io",
          readOnly: true,
          volumeAttributes: { sharedSecret: "plain-subscription-entitlement" },
        },
      },
    ]);
    expect(pod.spec.containers[0]?.volumeMounts).toEqual([
      { name: "etc-pki-entitlement", mountPath: ePath, readOnly: true },
    ]);
  });

  test("[subscription-injection/AC-B16] profile sharedresource with a repository: file by file", () => {
    const { pod } = decide(naming("cluster"), { ...state, ...sharedresource });
    expect(pod.spec.volumes).toMatchObject([
      {
        name: "yum-repo",
        csi: { volumeAttributes: { sharedConfigMap: "cluster-subscription-yumrepository" } },
      },
      { name: "etc-pki-entitlement" },
    ]);
    expect(pod.spec.containers[0]?.volumeMounts).toEqual([
      { name: "yum-repo", mountPath: `${rPath}/redhat.repo`, subPath: "redhat.repo", readOnly: true },
      { name: "etc-pki-entitlement", mountPath: ePath, readOnly: true },
    ]);
  });

  test("[subscription-injection/AC-B17] profile sharedresource, two shares: two volumes, files, a warning", () => {
    const { pod, warnings } = decide(naming("plain,other"), { ...state, ...sharedresource });
    const names = pod.spec.volumes?.map(({ name }) => name) ?? [];
    expect(names).toEqual([
      "etc-pki-entitlement",
      expect.stringMatching(/^etc-pki-entitlement-[0-9a-f]{8}$/),
    ]);
    expect(pod.spec.containers[0]?.volumeMounts).toEqual([
      { name: names[0], mountPath: `${ePath}/a.pem`, subPath: "a.pem", readOnly: true },
      { name: names[1], mountPath: `${ePath}/b.pem`, subPath: "b.pem", readOnly: true },
    ]);
    expect(warnings.join()).toContain("rotation");
  });

  test.each(["seed", "sharedresource"])(
    "[subscription-injection/AC-B19] attributes are strings in %s",
    (profile) => {
      const { pod } = decide(naming("cluster,extra"), { ...state, settings: { profile } });
      const values = (pod.spec.volumes ?? []).flatMap((volume) =>
        Object.values(
          (volume as unknown as { csi: { volumeAttributes: Record<string, unknown> } }).csi.volumeAttributes,
        ),
      );
      expect(values.length).toBeGreaterThan(0);
      expect(values.every((value) => typeof value === "string")).toBe(true);
    },
  );

  test("renamed keys of a share are mounted one by one from a volume of their own", () => {
    const { pod } = decide(naming("plain,renamed"), {
      ...state,
      clusterBundles: {
        ...state.clusterBundles,
        renamed: { entitlements: [{ ...entitlement("s3"), prefix: "three-" }] },
      },
    });
    expect(pod.spec.volumes).toHaveLength(2);
    expect(pod.spec.containers[0]?.volumeMounts).toMatchObject([
      { mountPath: `${ePath}/a.pem`, subPath: "a.pem" },
      { mountPath: `${ePath}/three-a.pem`, subPath: "a.pem" },
    ]);
  });
});
