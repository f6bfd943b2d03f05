import { readFile } from "node:fs/promises";

import { defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";
import { parseAllDocuments } from "yaml";

import { type BundleBench, ownLabel } from "./bench.ts";

type Policy = KubeObject & { readonly spec: Readonly<Record<string, unknown>> };

/** Whom a policy is enforced for: the namespace of the bench, its ClusterBundles, or all. */
type PolicyScope = "namespace" | "clusterBundles" | "cluster";

/** Puts a shipped file of config/policy in force as a copy that ends with the bench, for its objects only if that is possible. */
export async function enforcePolicy(
  bench: BundleBench,
  file: string,
  scope: PolicyScope = "namespace",
): Promise<void> {
  const url = new URL(`../../../../config/policy/${file}`, import.meta.url);
  for (const document of parseAllDocuments(await readFile(url, "utf8"))) {
    const policy = document.toJS() as Policy;
    const isBinding = policy.kind.endsWith("Binding");
    const name = bench.named(policy.metadata.name);
    const bound = { ...policy.spec, policyName: name, ...matchResources(bench, scope) };
    await bench.create(kindOf(policy), {
      ...policy,
      metadata: { name },
      spec: isBinding ? bound : policy.spec,
    });
  }
}

function matchResources({ namespace }: BundleBench, scope: PolicyScope): object {
  if (scope === "cluster") return {};
  if (scope === "clusterBundles")
    return { matchResources: { objectSelector: { matchLabels: { [ownLabel]: namespace } } } };
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  return { matchResources: { namespaceSelector } };
}

function kindOf({ kind }: Policy): Kind {
  const plural = `${kind}s`.toLowerCase().replace(/ys$/, "ies");
  return defineKind({ group: "admissionregistration.k8s.io", version: "v1", kind, plural, scope: "Cluster" });
}
