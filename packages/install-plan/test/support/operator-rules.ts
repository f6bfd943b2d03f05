import { readFile } from "node:fs/promises";

import type { PolicyRule } from "@quartermaster/testkit";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

/** The rules that the shipped ClusterRole gives the operator, and no others. Read once, because every test requests them. */
export async function operatorRules(): Promise<readonly PolicyRule[]> {
  shipped ??= readRules();
  return await shipped;
}

let shipped: Promise<readonly PolicyRule[]> | undefined;

async function readRules(): Promise<readonly PolicyRule[]> {
  const text = await readFile(new URL("../../../../config/rbac/operator.yaml", import.meta.url), "utf8");
  const [role] = parseAllDocuments(text).map((document) => document.toJS() as unknown);
  return clusterRole.parse(role).rules;
}

const texts = z.array(z.string());
const clusterRole = z.object({
  rules: z.array(z.object({ apiGroups: texts, resources: texts, verbs: texts })),
});
