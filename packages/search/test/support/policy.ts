import { readFile } from "node:fs/promises";

import type { Kind, KubeObject } from "@quartermaster/runtime";
import { validatingAdmissionPolicies, validatingAdmissionPolicyBindings } from "@quartermaster/runtime/kinds";
import { parseAllDocuments } from "yaml";

import type { SearchBench } from "./search-bench.ts";

type Policy = KubeObject & { readonly spec: Readonly<Record<string, unknown>> };

/** Puts a shipped file of config/policy in force, as copies for the bench's namespace that end with the scope. */
export async function enforcePolicy(
  { client, namespace }: Pick<SearchBench, "client" | "namespace">,
  file: string,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const url = new URL(`../../../../config/policy/${file}`, import.meta.url);
  for (const document of parseAllDocuments(await readFile(url, "utf8"))) {
    const policy = document.toJS() as Policy;
    const isBinding = policy.kind.endsWith("Binding");
    const kind: Kind = isBinding ? validatingAdmissionPolicyBindings : validatingAdmissionPolicies;
    const name = `${policy.metadata.name}-${namespace}`;
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
    const bound = { ...policy.spec, policyName: name, matchResources: { namespaceSelector } };
    const copy: Policy = { ...policy, metadata: { name }, spec: isBinding ? bound : policy.spec };
    await client.create(kind, copy);
    stack.defer(async () => {
      await client.delete(kind, { name });
    });
  }
  return stack.move();
}
