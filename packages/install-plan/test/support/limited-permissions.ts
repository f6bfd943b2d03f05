import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { KubeObject } from "@quartermaster/runtime";
import { eventually } from "@quartermaster/testkit";
import { parseAllDocuments } from "yaml";

import { isUserAllowed } from "./access-review.ts";
import { clusterRoleBindings, clusterRoles, roleBindings } from "./kinds.ts";
import { removing } from "./removing.ts";
import { setUpWorkbench, type Workbench } from "./workbench.ts";

const directory = join(import.meta.dirname, "../../../../config/rbac-limited");
const apiGroup = "rbac.authorization.k8s.io";
const force = { fieldManager: "tests", force: true };

/** A workbench whose operator has nothing but what config/rbac-limited gives, in a namespace that has not opted in. */
export async function setUpLimited(options: Parameters<typeof setUpWorkbench>[0] = {}): Promise<Workbench> {
  const bench = await setUpWorkbench({ ...options, operatorClusterRules: [], isOperating: false });
  for (const file of readdirSync(directory).filter((name) => name.endsWith(".yaml")))
    for (const role of clusterRolesIn(join(directory, file)))
      await bench.client.apply(clusterRoles, role, force);
  const name = `${bench.namespace}-limited`;
  bench.use(removing(bench.client, clusterRoleBindings, { name }));
  await bench.client.create(clusterRoleBindings, {
    apiVersion: `${apiGroup}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    ...givenTo(bench, "quartermaster-operator"),
  });
  await eventually(async () => await isAllowed(bench, { verb: "watch", resource: "namespaces" }));
  if (options.isOperating ?? true) await bench.operate();
  return bench;
}

function clusterRolesIn(path: string): readonly KubeObject[] {
  const objects = parseAllDocuments(readFileSync(path, "utf8")).map((each) => each.toJS() as KubeObject);
  return objects.filter(({ kind }) => kind === "ClusterRole");
}

/** What docs/guides/install.md says to do in a namespace that is to have plans. */
export async function optIn(bench: Workbench): Promise<void> {
  await bench.client.create(roleBindings, {
    apiVersion: `${apiGroup}/v1`,
    kind: "RoleBinding",
    metadata: { name: "quartermaster-plans", namespace: bench.namespace },
    ...givenTo(bench, "quartermaster-plans"),
  });
}

/** Lets the operator read a kind, with a labelled role that goes with the workbench. */
export async function letRead(bench: Workbench, group: string, resource: string): Promise<void> {
  const name = `${bench.namespace}-${resource}`;
  const labels = { "install.quartermaster.dev/aggregate-to-operator": "true" };
  bench.use(removing(bench.client, clusterRoles, { name }));
  const rules = [{ apiGroups: [group], resources: [resource], verbs: ["get", "list", "watch"] }];
  const role = { apiVersion: `${apiGroup}/v1`, kind: "ClusterRole", metadata: { name, labels }, rules };
  await bench.client.create(clusterRoles, role);
}

/** Whether the operator may do something, by the server's own word. */
export async function isAllowed({ client, operator }: Workbench, attributes: object): Promise<boolean> {
  return await isUserAllowed(client, operator, attributes);
}

function givenTo({ operator }: Workbench, role: string): object {
  return {
    roleRef: { apiGroup, kind: "ClusterRole", name: role },
    subjects: [{ apiGroup, kind: "User", name: operator }],
  };
}
