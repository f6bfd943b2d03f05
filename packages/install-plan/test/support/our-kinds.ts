import { readFile } from "node:fs/promises";

import { installPlan, resourceManifest } from "@quartermaster/api";
import type { Client, KubeObject } from "@quartermaster/runtime";
import type { CustomResource } from "@quartermaster/runtime/schema";
import { eventually, type PolicyRule } from "@quartermaster/testkit";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

import { crds } from "./kinds.ts";

/** The rules that the shipped ClusterRole gives the operator, and no others. */
export async function operatorRules(): Promise<readonly PolicyRule[]> {
  const text = await readFile(new URL("../../../../config/rbac/operator.yaml", import.meta.url), "utf8");
  const [role] = parseAllDocuments(text).map((document) => document.toJS() as unknown);
  return clusterRole.parse(role).rules;
}

const texts = z.array(z.string());
const clusterRole = z.object({
  rules: z.array(z.object({ apiGroups: texts, resources: texts, verbs: texts })),
});

/** Every file applies them: they are the same for all, and applying is idempotent. */
export async function serveOurKinds(client: Client): Promise<void> {
  const ours: readonly CustomResource[] = [
    installPlan,
    resourceManifest,
  ] as readonly unknown[] as readonly CustomResource[];
  for (const ourKind of ours) {
    const { kind } = ourKind;
    await client.apply(crds, ourKind.definition() as unknown as KubeObject, {
      fieldManager: "tests",
      force: true,
    });
    await eventually(async () => {
      await client.listPage(kind, { pageSize: 1 });
      return true;
    });
  }
}
