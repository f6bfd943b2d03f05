import { readFile } from "node:fs/promises";

import type { Kind, KubeObject } from "@quartermaster/runtime";
import { validatingAdmissionPolicies, validatingAdmissionPolicyBindings } from "@quartermaster/runtime/kinds";
import { parseAllDocuments } from "yaml";

import type { BundleBench } from "./bench.ts";

type Policy = KubeObject & { readonly spec: Readonly<Record<string, unknown>> };

/** Puts a shipped file of config/policy in force as a copy that ends with the bench, for its namespace only if that is possible. */
export async function enforcePolicy(
  bench: BundleBench,
  file: string,
  { isClusterWide = false }: { readonly isClusterWide?: boolean } = {},
): Promise<void> {
  const url = new URL(`../../../../config/policy/${file}`, import.meta.url);
  for (const document of parseAllDocuments(await readFile(url, "utf8"))) {
    const policy = document.toJS() as Policy;
    const isBinding = policy.kind.endsWith("Binding");
    const name = bench.named(policy.metadata.name);
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": bench.namespace } };
    const bound = {
      ...policy.spec,
      policyName: name,
      ...(isClusterWide ? {} : { matchResources: { namespaceSelector } }),
    };
    const kind: Kind = isBinding ? validatingAdmissionPolicyBindings : validatingAdmissionPolicies;
    await bench.create(kind, { ...policy, metadata: { name }, spec: isBinding ? bound : policy.spec });
  }
}
