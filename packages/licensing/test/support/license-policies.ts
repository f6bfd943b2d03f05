import { readFile } from "node:fs/promises";

import { classify, type Kind, type KubeObject } from "@quartermaster/runtime";
import { validatingAdmissionPolicies, validatingAdmissionPolicyBindings } from "@quartermaster/runtime/kinds";
import { parseAllDocuments } from "yaml";

import type { LicenseBench } from "./license-bench.ts";

const root = new URL("../../../../config/", import.meta.url);

/** What the server says; undefined when it accepts. */
export async function refusalOf(attempt: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    if (!["forbidden", "invalid"].includes(classify(error)) || !(error instanceof Error)) throw error;
    return error.message;
  }
}

/** The shipped policies as copies for the namespace of the team; the disposable takes them away. */
export async function enforce(bench: LicenseBench): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const documents = parseAllDocuments(await readFile(new URL("policy/licensing.yaml", root), "utf8"));
  for (const document of documents) {
    const policy = document.toJS() as KubeObject & { readonly spec: Readonly<Record<string, unknown>> };
    const isBinding = policy.kind.endsWith("Binding");
    const name = `${policy.metadata.name}-${bench.team}`;
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": bench.team } };
    const spec = isBinding
      ? { ...policy.spec, policyName: name, matchResources: { namespaceSelector } }
      : policy.spec;
    const kind: Kind = isBinding ? validatingAdmissionPolicyBindings : validatingAdmissionPolicies;
    await bench.client.create(kind, { ...policy, metadata: { name }, spec } as unknown as KubeObject);
    stack.defer(async () => {
      await bench.client.delete(kind, { name });
    });
  }
  return stack;
}
