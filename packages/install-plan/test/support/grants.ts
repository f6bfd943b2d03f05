import { eventually, type PolicyRule } from "@quartermaster/testkit";

import { isUserAllowed } from "./access-review.ts";
import { roleBindings, roles } from "./kinds.ts";
import type { Workbench } from "./workbench.ts";

const apiGroup = "rbac.authorization.k8s.io";

/** Gives the plan's account permissions in a namespace (default: its own). */
export async function grant(
  { client, namespace: home, account }: Workbench,
  rules: readonly PolicyRule[],
  namespace: string = home,
): Promise<void> {
  const metadata = { name: `granted-${account}`, namespace };
  const force = { fieldManager: "tests", force: true };
  const role = { apiVersion: `${apiGroup}/v1`, kind: "Role", metadata, rules };
  await client.apply(roles, role, force);
  const binding = {
    apiVersion: `${apiGroup}/v1`,
    kind: "RoleBinding",
    metadata,
    roleRef: { apiGroup, kind: "Role", name: metadata.name },
    subjects: [{ kind: "ServiceAccount", name: account, namespace: home }],
  };
  await client.apply(roleBindings, binding, force);
}

/** A rule about one core resource. */
export function coreRule(resource: string, ...verbs: readonly string[]): PolicyRule {
  return { apiGroups: [""], resources: [resource], verbs };
}

export const deletesPlans: PolicyRule = {
  apiGroups: ["install.quartermaster.dev"],
  resources: ["installplans"],
  verbs: ["delete"],
};

/** A rule about one resource of RBAC. */
export function rbacRule(resource: string, ...verbs: readonly string[]): PolicyRule {
  return { apiGroups: [apiGroup], resources: [resource], verbs };
}

/** Waits until the server's authorizer, which follows shortly later, says this of the plan's account. */
export async function untilAllowed(
  { client, namespace, account }: Workbench,
  attributes: { readonly verb: string; readonly group?: string; readonly resource: string },
  isAllowed: boolean,
): Promise<void> {
  const user = `system:serviceaccount:${namespace}:${account}`;
  await eventually(
    async () => (await isUserAllowed(client, user, { namespace, ...attributes })) === isAllowed,
  );
}
