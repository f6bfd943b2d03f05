import { readFile } from "node:fs/promises";

import { type Client, defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";
import { parseAllDocuments } from "yaml";

import { removing } from "./removing.ts";
import type { Workbench } from "./workbench.ts";

type Policy = KubeObject & { readonly spec: object };

type PolicyFile =
  | "installplan-service-account.yaml"
  | "installplan-approval.yaml"
  | "installplan-author.yaml"
  | "installplan-author-record.yaml"
  | "installplan-confirmations.yaml"
  | "status.yaml";

/** Puts a shipped file of admission policies in force, for the namespace of the workbench only. */
export async function enforcePolicy(bench: Workbench, file: PolicyFile): Promise<void> {
  for (const object of await documentsOf(file)) {
    if (object.kind.endsWith("Binding")) bench.use(await bindHere(bench, object));
    else await applyPolicy(bench.client, object);
  }
}

/** The same with a part of its text replaced, as policies of their own that end with the workbench. */
export async function enforceEditedPolicy(
  bench: Workbench,
  file: PolicyFile,
  edit: (text: string) => string,
): Promise<void> {
  const own = (text: string): string =>
    edit(text).replaceAll(/quartermaster-installplan/g, `edited-${bench.namespace}`);
  for (const object of await documentsOf(file, own)) {
    if (object.kind.endsWith("Binding")) bench.use(await bindHere(bench, object));
    else {
      await applyPolicy(bench.client, object);
      bench.use(removing(bench.client, kindOf(object), object.metadata));
    }
  }
}

async function documentsOf(
  file: PolicyFile,
  edit: (text: string) => string = (text) => text,
): Promise<readonly Policy[]> {
  const url = new URL(`../../../../config/policy/${file}`, import.meta.url);
  const documents = parseAllDocuments(edit(await readFile(url, "utf8")));
  return documents.map((document) => document.toJS() as Policy);
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
