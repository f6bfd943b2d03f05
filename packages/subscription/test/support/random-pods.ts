import * as fc from "fast-check";

import { aPod } from "./injection-cases.ts";

const paths = [
  "/data",
  "/run",
  "/run/secrets",
  "/run/secrets/",
  "/run/secrets/etc-pki-entitlement",
  "/run/secrets/redhat.repo",
  "/var/run/secrets/kubernetes.io/serviceaccount",
  "/run/secrets/x/../etc-pki-entitlement/",
] as const;

/** Volumes with which others could get in our way; `token` is there as Kubernetes makes it. */
const sources: Readonly<Record<string, object>> = {
  token: { projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: 3607 } }] } },
  data: { emptyDir: {} },
  "etc-pki-entitlement": { emptyDir: {} },
  "yum-repo": { configMap: { name: "r1" } },
};

/** The same names, made as ours are, but by others. */
const lookalikes: typeof sources = {
  ...sources,
  "etc-pki-entitlement": { projected: { sources: [{ secret: { name: "mine" } }] } },
  "yum-repo": { projected: { sources: [{ configMap: { name: "mine" } }] } },
};

const volumeNames = Object.keys(sources);

const mount = fc.record({
  name: fc.constantFrom(...volumeNames),
  mountPath: fc.constantFrom(...paths),
});

const containers = (stem: string, minLength: number) =>
  fc
    .array(
      fc.record({
        image: fc.constant("registry.invalid/image"),
        volumeMounts: fc.uniqueArray(mount, { maxLength: 2, selector: ({ mountPath }) => mountPath }),
      }),
      { minLength, maxLength: 3 },
    )
    .map((all) => all.map((container, at) => ({ name: `${stem}${at}`, ...container })));

const annotations = fc.record(
  {
    "inject-bundle": fc.constantFrom("local", "renamed", "local,renamed", "local, renamed,local", ""),
    "inject-cluster-bundle": fc.constantFrom("cluster", ""),
    "deny-bundles": fc.constantFrom("*", "auto", "local"),
    "allow-bundles": fc.constantFrom("*", "auto", "none"),
    "bundle-generations": fc.constantFrom("{}", "forged"),
  },
  { requiredKeys: [] },
);

/** Pods that the API server takes, most of them with something in our way. */
export const podArbitrary: fc.Arbitrary<object> = fc
  .record({
    annotations,
    isBare: fc.boolean(),
    volumeSources: fc.constantFrom(sources, lookalikes),
    containers: containers("main", 1),
    initContainers: fc.option(containers("init", 0), { nil: undefined }),
  })
  .map(({ annotations: given, isBare, volumeSources, containers: main, initContainers }) => {
    const bare = (all: readonly { readonly name: string; readonly image: string }[]) =>
      all.map(({ name, image }) => ({ name, image }));
    const volumes = volumeNames.map((name) => ({ name, ...volumeSources[name] }));
    return aPod({
      annotations: given,
      spec: isBare
        ? { containers: bare(main) }
        : { volumes, containers: main, ...(initContainers === undefined ? {} : { initContainers }) },
    });
  });
