import { readFile } from "node:fs/promises";

import { type Client, defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";
import { parseAllDocuments } from "yaml";

import { removing } from "./removing.ts";
import type { Workbench } from "./workbench.ts";

type Policy = KubeObject & { readonly spec: object };

/** Puts a shipped file of admission policies in force, for the namespace of the workbench only. */
export async function enforcePolicy(
  bench: Workbench,
  file: "installplan-service-account.yaml" | "installplan-author.yaml" | "installplan-approval.yaml",
): Promise<void> {
  const url = new URL(`../../../../config/policy/${file}`, import.meta.url);
  const documents = parseAllDocuments(await readFile(url, "utf8"));
  for (const object of documents.map((document) => document.toJS() as Policy)) {
    if (object.kind.endsWith("Binding")) bench.use(await bindHere(bench, object));
    else await applyPolicy(bench.client, object);
  }
}

async function applyPolicy(client: Client, policy: Policy): Promise<void> {
  await client.apply(kindOf(policy), policy, { fieldManager: "tests", force: true });
}

async function bindHere({ client, namespace }: Workbench, binding: Policy): Promise<AsyncDisposable> {
  const name = `${namespace}-${binding.metadata.name}`;
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  const spec = { ...binding.spec, matchResources: { namespaceSelector } };
  const local: Policy = { ...binding, metadata: { name }, spec };
  await client.create(kindOf(binding), local);
  return removing(client, kindOf(binding), { name });
}

function kindOf({ kind }: Policy): Kind {
  const plural = `${kind}s`.toLowerCase().replace(/ys$/, "ies");
  return defineKind({ group: "admissionregistration.k8s.io", version: "v1", kind, plural, scope: "Cluster" });
}
