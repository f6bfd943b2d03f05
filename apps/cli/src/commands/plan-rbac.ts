import { firstTen, type InstallPlan } from "@quartermaster/api";
import {
  describePermission,
  type GrantedMember,
  leastPermissions,
  leastRoles,
  permissionsBeyond,
  reviewRules,
} from "@quartermaster/install-plan/offline";

import { type Cluster, connect } from "../cluster/connect.ts";
import { servedKind, writableOf } from "../cluster/diff-member.ts";
import { actAsAccount, getPlan } from "../cluster/get-plan.ts";
import { planObjects } from "../cluster/plan-objects.ts";
import type { Command } from "../command.ts";
import { CliError, exitCode } from "../errors.ts";
import { clusterOptions, onlyPositional } from "../input/invocation.ts";
import { toJson, toYaml } from "../output/print.ts";

/** Prints the least roles for a plan, and what its service account may do beyond them. Writes nothing to the cluster. */
export const planRbacCommand: Command = {
  name: "rbac",
  summary: "print the least roles that a plan needs, and what its service account has beyond them",
  operands: "<plan>",
  options: clusterOptions,
  run: async (invocation, { system, terminal, signal }) => {
    await using cluster = await connect(invocation, { system, terminal });
    const plan = await getPlan(cluster, onlyPositional(invocation, "plan"), signal);
    const members = await grantedMembers(plan, cluster, signal);
    const needed = leastPermissions(plan, members);
    const roles = leastRoles(plan, needed);
    for (const line of unknownParts(plan, members)) terminal.note(line);
    terminal.note(await beyondText(plan, needed, { cluster, signal }));
    if (invocation.format === "json")
      terminal.write(toJson({ apiVersion: "v1", kind: "List", items: roles }));
    else terminal.write(roles.map((role) => toYaml(role).trimEnd()).join("\n---\n"));
    return exitCode.ok;
  },
};

async function grantedMembers(
  plan: InstallPlan,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<readonly GrantedMember[]> {
  const objects = await planObjects(plan, cluster, signal);
  const members: GrantedMember[] = [];
  for (const object of objects) {
    const kind = await servedKind(object, { cluster, signal });
    members.push({ ...writableOf(object, kind, plan), lifecycle: object.lifecycle, plural: kind?.plural });
  }
  return members;
}

function unknownParts({ spec }: InstallPlan, members: readonly GrantedMember[]): readonly string[] {
  const unserved = new Set(
    members
      .filter(({ plural }) => plural === undefined)
      .map(({ identity: { apiVersion, kind } }) => `${kind} of ${apiVersion}`),
  );
  return [
    ...(unserved.size === 0
      ? []
      : [`not included, because the kind is not served yet: ${firstTen([...unserved])}`]),
    ...((spec.transformations ?? []).length === 0
      ? []
      : ["not included: list and delete for the objects that spec.transformations selects"]),
  ];
}

/** With the account's own permissions, which only a user who may act as it can see. */
async function beyondText(
  plan: InstallPlan,
  needed: ReturnType<typeof leastPermissions>,
  { cluster, signal }: { readonly cluster: Cluster; readonly signal: AbortSignal },
): Promise<string> {
  const { serviceAccountName: account } = plan.spec;
  try {
    const { client } = await actAsAccount(plan, cluster, signal);
    const namespaces = [...new Set(needed.map(({ namespace = "" }) => namespace))];
    const found = await Promise.all(
      namespaces.map(async (namespace) => {
        const { rules } = await reviewRules(client, namespace, signal);
        const own = needed.filter((permission) => (permission.namespace ?? "") === namespace);
        return permissionsBeyond(rules, own, namespace === "" ? undefined : namespace);
      }),
    );
    const beyond = found.flat().map((permission) => describePermission(permission));
    if (beyond.length === 0) return `service account ${account} has nothing beyond these roles`;
    return `service account ${account} has more than these roles: ${firstTen(beyond)}`;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return `permissions beyond these roles are unknown: ${error.message}`;
  }
}
