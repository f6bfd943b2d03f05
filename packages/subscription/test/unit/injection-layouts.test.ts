import { patchBetween } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import {
  aPod,
  decide,
  domain,
  ePath,
  rPath,
  type SeenPod,
  tokenMount,
  withDefaults,
  type State,
} from "../support/injection-cases.ts";
import { applyPatch } from "../support/json-patch.ts";

const state: State = {
  bundles: {
    local: { entitlements: [{ name: "s1" }], repos: [{ name: "r1" }] },
    plain: { entitlements: [{ name: "s1" }] },
    other: { entitlements: [{ name: "s2" }] },
  },
  clusterBundles: {
    cluster: { entitlements: [{ name: "s3", namespace: "vault" }] },
    clash: { entitlements: [{ name: "s4", namespace: "vault" }] },
  },
  secrets: { "app/s1": ["a.pem"], "app/s2": ["b.pem"], "vault/s3": ["c.pem"], "vault/s4": ["a.pem"] },
  configMaps: { "app/r1": ["redhat.repo", "satellite.repo"] },
};
const autoState: State = {
  ...state,
  bundles: { plain: { isAuto: true, entitlements: [{ name: "s1" }] } },
  clusterBundles: {},
};
const naming = (names: string, spec: object = {}): object =>
  aPod({ annotations: { "inject-bundle": names }, spec });
const mounting = (mount: object): object => ({ containers: [{ name: "main", volumeMounts: [mount] }] });
const mountsOf = ({ spec }: SeenPod, at = 0): readonly object[] => spec.containers[at]?.volumeMounts ?? [];

describe("volume names", () => {
  const foreign = { name: "etc-pki-entitlement", emptyDir: {} };

  test("[subscription-injection/AC-D1] [security/31] a foreign volume of our name stays, ours gets a hash", () => {
    const { pod } = decide(naming("plain", { volumes: [foreign] }), state);
    expect(pod.spec.volumes?.[0]).toEqual(foreign);
    const name = pod.spec.volumes?.[1]?.name;
    expect(name).toMatch(/^etc-pki-entitlement-[0-9a-f]{8}$/);
    expect(mountsOf(pod)).toEqual([{ name, mountPath: ePath }]);
  });

  test("[subscription-injection/AC-D1] another client who takes the hashed name too does not get in the way", () => {
    const first = decide(naming("plain", { volumes: [foreign] }), state).pod.spec.volumes?.[1]?.name ?? "";
    const { pod } = decide(naming("plain", { volumes: [foreign, { name: first, emptyDir: {} }] }), state);
    const names = pod.spec.volumes?.map(({ name }) => name) ?? [];
    expect(new Set(names).size).toBe(3);
  });
});

describe("mounts of others", () => {
  test.each([
    { id: "subscription-injection/AC-D2", mountPath: ePath },
    { id: "subscription-injection/AC-D4", mountPath: `${ePath}/` },
    { id: "security/30", mountPath: `/run/secrets/x/../etc-pki-entitlement` },
    { id: "security/30", mountPath: "/var/run/secrets/etc-pki-entitlement" },
    { id: "security/30", mountPath: "run/secrets/etc-pki-entitlement" },
    { id: "security/30", mountPath: `${ePath}/below` },
  ])("[$id] $mountPath is taken: a named bundle is refused", ({ mountPath }) => {
    const { message } = decide(naming("plain", mounting({ name: "mine", mountPath })), state);
    expect(message).toContain(`MountPathConflict: container "main" already mounts "${ePath}`);
  });

  test("[subscription-injection/AC-D3] a labelled bundle leaves that container alone", () => {
    const spec = {
      containers: [{ name: "main", volumeMounts: [{ name: "mine", mountPath: ePath }] }, { name: "b" }],
    };
    const { pod, warnings } = decide(aPod({ spec }), autoState);
    expect(mountsOf(pod)).toEqual([{ name: "mine", mountPath: ePath }]);
    expect(mountsOf(pod, 1)).toEqual([{ name: "etc-pki-entitlement", mountPath: ePath }]);
    expect(warnings.join()).toContain('container "main"');
  });

  test("[subscription-injection/AC-D3] if no container is left, the pod gets neither volume nor record", () => {
    const { patch, warnings } = decide(
      aPod({ spec: mounting({ name: "mine", mountPath: ePath }) }),
      autoState,
    );
    expect(patch).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  test("[subscription-injection/AC-D3,AC-D11] another client's own volume of our name and kind survives a second call", () => {
    const own = { name: "etc-pki-entitlement", projected: { sources: [{ secret: { name: "mine" } }] } };
    const volumeMounts = [{ name: own.name, mountPath: ePath }];
    const spec = { volumes: [own], containers: [{ name: "main", volumeMounts }, { name: "b" }] };
    const first = decide(aPod({ spec }), autoState);
    expect(first.pod.spec.volumes?.[0]).toEqual(own);
    expect(mountsOf(first.pod)).toEqual(volumeMounts);
    expect(mountsOf(first.pod, 1)).toHaveLength(1);
    expect(decide(withDefaults(first.pod), autoState).patch).toEqual([]);
  });

  test("a mount above our paths is fine", () => {
    const { decision } = decide(naming("plain", mounting({ name: "mine", mountPath: "/run" })), state);
    expect(decision.result).toBe("injected");
  });
});

describe("layouts", () => {
  test.each([
    { id: "AC-D5", mount: tokenMount },
    { id: "AC-D7", mount: { name: "aws", mountPath: "/var/run/secrets/eks.amazonaws.com/serviceaccount" } },
  ])("[subscription-injection/$id] a token below /var/run/secrets: repositories are files", ({ mount }) => {
    const { pod, warnings } = decide(naming("local", mounting(mount)), state);
    expect(mountsOf(pod)).toEqual([
      mount,
      { name: "yum-repo", mountPath: `${rPath}/redhat.repo`, subPath: "redhat.repo" },
      { name: "yum-repo", mountPath: `${rPath}/satellite.repo`, subPath: "satellite.repo" },
      { name: "etc-pki-entitlement", mountPath: ePath },
    ]);
    expect(warnings.join()).toContain("file by file");
  });

  test("[subscription-injection/AC-D6] each container has its own layout", () => {
    const spec = { containers: [{ name: "a", volumeMounts: [tokenMount] }, { name: "b" }] };
    const { pod } = decide(naming("local", spec), state);
    expect(mountsOf(pod)).toHaveLength(4);
    expect(mountsOf(pod, 1)[0]).toEqual({ name: "yum-repo", mountPath: rPath });
  });

  test("[subscription-injection/AC-D8] a forced directory over a token warns and does as configured", () => {
    const { pod, warnings } = decide(naming("local", mounting(tokenMount)), {
      ...state,
      settings: { repoLayout: "directory" },
    });
    expect(mountsOf(pod)[1]).toEqual({ name: "yum-repo", mountPath: rPath });
    expect(warnings.join()).toContain("hides");
  });

  test("forced files without a token", () => {
    const { pod } = decide(naming("local"), { ...state, settings: { repoLayout: "files" } });
    expect(mountsOf(pod)[0]).toMatchObject({ mountPath: `${rPath}/redhat.repo` });
  });

  test("[subscription-injection/AC-D9] repositories without redhat.repo warn", () => {
    const { warnings } = decide(naming("local"), { ...state, configMaps: { "app/r1": ["other.repo"] } });
    expect(warnings.join()).toContain("redhat.repo");
  });

  test("[subscription-injection/AC-D10] a pod without lists and maps gets them", () => {
    const pod = { metadata: {}, spec: { containers: [{ name: "main" }] } };
    const named = { ...pod, metadata: { annotations: { [`${domain}/inject-bundle`]: "plain" } } };
    expect(decide(named, state).pod.spec.volumes).toHaveLength(1);
    const bare = decide(pod, autoState);
    expect(bare.patch).toEqual([
      { op: "add", path: "/spec/volumes", value: expect.any(Array) as unknown },
      { op: "add", path: "/spec/containers/0/volumeMounts", value: expect.any(Array) as unknown },
      { op: "add", path: "/metadata/annotations", value: expect.any(Object) as unknown },
    ]);
  });
});

describe("a second call", () => {
  test.each(["plain", "local", "local,other"])(
    "[subscription-injection/AC-D11] changes nothing after %s",
    (names) => {
      const first = decide(naming(names, mounting(tokenMount)), state);
      const second = decide(withDefaults(first.pod), state);
      expect(second.decision.result).toBe("injected");
      expect(second.patch).toEqual([]);
    },
  );

  test("[subscription-injection/AC-D12] patches only a container that was added meanwhile", () => {
    const { pod } = decide(naming("plain"), state);
    const containers = [...pod.spec.containers, { name: "late" }];
    const volumes = [...(pod.spec.volumes ?? []), { name: "late", emptyDir: {} }];
    const { patch } = decide({ ...pod, spec: { ...pod.spec, volumes, containers } }, state);
    expect(patch).toEqual([
      {
        op: "add",
        path: "/spec/containers/1/volumeMounts",
        value: [{ name: "etc-pki-entitlement", mountPath: ePath }],
      },
    ]);
  });
});

describe("the generations annotation", () => {
  const forged = { "bundle-generations": '{"bundles":{"plain":99}}' };

  test("[subscription-injection/AC-D13] [security/32] a forged value is overwritten", () => {
    const { generations } = decide(aPod({ annotations: { ...forged, "inject-bundle": "plain" } }), state);
    expect(generations).toBe('{"bundles":{"plain":1}}');
  });

  test("[subscription-injection/AC-D14] [security/32] a forged value with nothing to inject is removed", () => {
    const { generations, patch } = decide(aPod({ annotations: { ...forged, mine: "1" } }), state);
    expect(generations).toBeUndefined();
    expect(patch).toEqual([
      { op: "remove", path: "/metadata/annotations/subscription.openshift.io~1bundle-generations" },
    ]);
  });

  test("[subscription-injection/AC-D15] the dump of an injected pod gets the current volume and generation", () => {
    const old = decide(naming("plain", mounting(tokenMount)), state).pod;
    const changed: State = {
      bundles: { plain: { generation: 2, entitlements: [{ name: "s9" }] } },
      secrets: { "app/s9": ["z.pem"] },
    };
    const { pod, generations } = decide(withDefaults(old), changed);
    expect(pod.spec.volumes).toEqual([
      { name: "etc-pki-entitlement", projected: { sources: [{ secret: { name: "s9" } }] } },
    ]);
    expect(mountsOf(pod)).toEqual([tokenMount, { name: "etc-pki-entitlement", mountPath: ePath }]);
    expect(generations).toBe('{"bundles":{"plain":2}}');
  });

  test("[subscription-injection/AC-D15] volumes and mounts that are not needed any more go with the dump", () => {
    const mixed = aPod({ annotations: { "inject-bundle": "plain", "inject-cluster-bundle": "cluster" } });
    const old = withDefaults(decide(mixed, state).pod);
    const annotations = { ...old.metadata.annotations, [`${domain}/inject-cluster-bundle`]: "" };
    const { pod } = decide({ ...old, metadata: { annotations } }, state);
    expect(pod.spec.volumes).toHaveLength(1);
    expect(mountsOf(pod)).toEqual([{ name: "etc-pki-entitlement", mountPath: ePath }]);
  });
});

describe("both kinds in one pod", () => {
  const mixed = (clusterName: string): object =>
    aPod({ annotations: { "inject-bundle": "plain", "inject-cluster-bundle": clusterName } });

  test("[subscription-injection/AC-D16] files from both, both recorded", () => {
    const { pod, generations, warnings } = decide(mixed("cluster"), state);
    expect(mountsOf(pod)).toMatchObject([{ mountPath: `${ePath}/a.pem` }, { mountPath: `${ePath}/c.pem` }]);
    expect(generations).toBe('{"bundles":{"plain":1},"clusterBundles":{"cluster":1}}');
    expect(warnings.join()).toContain("rotation");
  });

  test("[subscription-injection/AC-D17] a common key is a conflict", () => {
    expect(decide(mixed("clash"), state).message).toContain(
      'EntitlementKeyConflict: key "a.pem" is provided by Bundle "plain" and ClusterBundle "clash"',
    );
  });

  test("mixedScopes Reject refuses them", () => {
    const { message } = decide(mixed("cluster"), { ...state, settings: { mixedScopes: "Reject" } });
    expect(message).toContain("MixedScopes");
  });
});

describe("the patch", () => {
  test("[subscription-injection/AC-D18] renamed keys tell two Secrets apart", () => {
    const items = [{ key: "a.pem", path: "second.pem" }];
    const { pod } = decide(naming("one,two,three"), {
      bundles: {
        one: { entitlements: [{ name: "s1" }] },
        two: { entitlements: [{ name: "s2", items }] },
        three: { entitlements: [{ name: "s3", prefix: "third-" }] },
      },
      secrets: { "app/s1": ["a.pem"], "app/s2": ["a.pem", "b.pem"], "app/s3": ["a.pem"] },
    });
    expect(pod.spec.volumes).toMatchObject([
      {
        projected: {
          sources: [
            { secret: { name: "s1" } },
            { secret: { name: "s2", items } },
            { secret: { name: "s3", items: [{ key: "a.pem", path: "third-a.pem" }] } },
          ],
        },
      },
    ]);
  });

  test("[subscription-injection/AC-D19] 20 containers and 3 bundles: one operation each, in a fixed order", () => {
    const containers = Array.from({ length: 20 }, (_, at) => ({
      name: `c${at}`,
      volumeMounts: [tokenMount],
    }));
    const spec = { containers, initContainers: [{ name: "init" }], volumes: [{ name: "kube-api-access-x" }] };
    const three: State = {
      ...state,
      bundles: { ...state.bundles, third: { entitlements: [{ name: "s5" }] } },
      secrets: { ...state.secrets, "app/s5": ["e.pem"] },
    };
    const { patch, generations } = decide(naming("plain,other,third", spec), three);
    expect(generations).toBe('{"bundles":{"other":1,"plain":1,"third":1}}');
    for (const names of ["third,other,plain", "other,third,plain"])
      expect(decide(naming(names, spec), three).patch.map(({ path }) => path)).toEqual(
        patch.map(({ path }) => path),
      );
    expect(decide(naming("plain,other,third", spec), three).patch).toEqual(patch);
    expect(patch.map(({ path }) => path)).toEqual([
      "/spec/volumes/1",
      ...containers.map((_, at) => `/spec/containers/${at}/volumeMounts/1`),
      "/spec/initContainers/0/volumeMounts",
      "/metadata/annotations/subscription.openshift.io~1bundle-generations",
      "/metadata/annotations/subscription.openshift.io~1injected-volumes",
    ]);
  });

  test("[subscription-injection/AC-D20] [security/51] slashes and tildes of annotations are escaped", () => {
    const { patch } = decide(aPod({ annotations: { "a~b/c": "x", "inject-bundle": "plain" } }), state);
    expect(patch.map(({ path }) => path)).toContain(
      "/metadata/annotations/subscription.openshift.io~1bundle-generations",
    );
    // What of a pod our patches touch has no tilde; whatever had one would be escaped.
    const before = { metadata: { annotations: { "kept~0": "x" } } };
    const after = { metadata: { annotations: { "kept~0": "y", "a~b/c": "x" } } };
    const operations = patchBetween(before, after);
    expect(operations.map(({ path }) => path).toSorted()).toEqual([
      "/metadata/annotations/a~0b~1c",
      "/metadata/annotations/kept~00",
    ]);
    expect(applyPatch(before, operations)).toEqual(after);
  });

  test("[security/50] a patch of more than 256 KiB is refused", () => {
    const containers = Array.from({ length: 1_000 }, (_, at) => ({
      name: `c${at}`,
      volumeMounts: [tokenMount],
    }));
    const keys = Array.from({ length: 20 }, (_, at) => `file-${at}.repo`);
    const { message } = decide(naming("local", { containers }), { ...state, configMaps: { "app/r1": keys } });
    expect(message).toContain("PatchTooLarge");
  });
});
