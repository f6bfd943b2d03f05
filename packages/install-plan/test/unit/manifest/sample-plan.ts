import { installPlan, type InstallPlan } from "@quartermaster/api";

import type { Content, ContentSources } from "../../../src/manifest/content.ts";
import { resolveManifest } from "../../../src/manifest/resolve-manifest.ts";

/** The apiVersion of plans and manifests. */
export const version = "install.quartermaster.dev/v1alpha1";

/** A plan in the namespace `shop` with the API's defaults filled in; stages are named s0, s1 …. */
export function aPlan(stages: readonly object[], spec: object = {}): InstallPlan {
  const named = stages.map((stage, index) => ({ name: `s${index}`, ...stage }));
  const given = { serviceAccountName: "installer", stages: named, ...spec };
  return {
    apiVersion: version,
    kind: "InstallPlan",
    metadata: { name: "plan", namespace: "shop", uid: "u" },
    spec: installPlan.request.spec.parse(given) as InstallPlan["spec"],
  };
}

/** One stage per argument, each a list of manifests. */
export const planOf = (...stages: readonly (readonly object[])[]): InstallPlan =>
  aPlan(stages.map((manifests) => ({ resources: manifests.map((manifest) => ({ manifest })) })));

/** The same in scope Cluster. */
export const clusterPlanOf = (...stages: readonly (readonly object[])[]): InstallPlan => {
  const plan = planOf(...stages);
  return { ...plan, spec: { ...plan.spec, scope: "Cluster" } };
};

const served = new Map<string, { plural: string; scope: "Namespaced" | "Cluster" }>([
  ["v1/ConfigMap", { plural: "configmaps", scope: "Namespaced" }],
  ["v1/Secret", { plural: "secrets", scope: "Namespaced" }],
  ["v1/Namespace", { plural: "namespaces", scope: "Cluster" }],
  ["apps/v1/Deployment", { plural: "deployments", scope: "Namespaced" }],
  ["apps/v1beta1/Deployment", { plural: "deployments", scope: "Namespaced" }],
  ["rbac.authorization.k8s.io/v1/ClusterRole", { plural: "clusterroles", scope: "Cluster" }],
  [
    "apiextensions.k8s.io/v1/CustomResourceDefinition",
    { plural: "customresourcedefinitions", scope: "Cluster" },
  ],
]);

/** A cluster with a few kinds and the namespaces `shop` and `other`. */
export const sources: ContentSources = {
  manifestOf: () => undefined,
  resolve: (manifest) => resolveManifest(manifest, () => undefined),
  kindOf: (apiVersion, kind) => served.get(`${apiVersion}/${kind}`),
  hasNamespace: (name) => name === "shop" || name === "other",
};

/** A ConfigMap. */
export const cm = (name: unknown, more: object = {}, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  ...more,
});
/** A Namespace. */
export const namespace = (name: string): object => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name },
});
/** A CRD of Widgets that serves v1 and not v0. */
export const crd = (scope = "Namespaced"): object => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope,
    names: { kind: "Widget", plural: "widgets" },
    versions: [
      { name: "v1", served: true, storage: true },
      { name: "v0", served: false, storage: false },
    ],
  },
});
/** A Widget. */
export const widget = (apiVersion = "example.com/v1"): object => ({
  apiVersion,
  kind: "Widget",
  metadata: { name: "w" },
});

/** Each issue in short: reason, place, field. */
export const tell = ({ issues }: Content): readonly string[] =>
  issues.map(
    ({ reason, stage = "-", index = "-", field = "-" }) => `${reason} ${stage}[${String(index)}] ${field}`,
  );
