import { readFile } from "node:fs/promises";

import { defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";
import { parseAllDocuments } from "yaml";

import { removing } from "./removing.ts";
import type { Workbench } from "./workbench.ts";

const policies = admissionKind("ValidatingAdmissionPolicy", "validatingadmissionpolicies");
const bindings = admissionKind("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings");

/** Puts the shipped policy about service accounts in force, for the namespace of the workbench only. */
export async function enforceAccountPolicy({ client, namespace }: Workbench): Promise<AsyncDisposable> {
  const file = new URL("../../../../config/policy/installplan-service-account.yaml", import.meta.url);
  const [policy, binding] = parseAllDocuments(await readFile(file, "utf8")).map(
    (document) => document.toJS() as KubeObject & { readonly spec: object },
  );
  if (policy === undefined || binding === undefined)
    throw new Error("the file holds a policy and its binding");
  await client.apply(policies, policy, { fieldManager: "tests", force: true });
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  const local = {
    ...binding,
    metadata: { name: namespace },
    spec: { ...binding.spec, matchResources: { namespaceSelector } },
  };
  await client.create(bindings, local);
  return removing(client, bindings, { name: namespace });
}

function admissionKind(kind: string, plural: string): Kind {
  return defineKind({ group: "admissionregistration.k8s.io", version: "v1", kind, plural, scope: "Cluster" });
}
