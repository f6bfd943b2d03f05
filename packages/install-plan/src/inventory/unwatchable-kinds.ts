import type { InstallPlan } from "@quartermaster/api";
import { type Context, defineKind, groupOf, type Kind } from "@quartermaster/runtime";

import type { Content } from "../manifest/content.ts";
import { kindIn, type KindTable } from "../manifest/kind-table.ts";
import type { ProvidedKind } from "../manifest/provided-kinds.ts";
import { hasStarted } from "../model/plan-status.ts";
import type { Permission } from "../permissions/permission.ts";
import { lackingOf, missingPermissions, reviewRules, wholeCluster } from "../permissions/rules-review.ts";

/** The plan whose kinds are decided upon. */
export interface UnwatchableQuery {
  readonly plan: InstallPlan;
  readonly content: Content;
  readonly kinds: KindTable;
}

/**
 * Kinds that a plan's own definitions bring and the operator would not be able to watch then. Checked before the first write, so
 * that a plan does not stop half way; one request, and none for plans without such kinds.
 */
export async function unwatchableOwnKinds(
  { plan, content, kinds }: UnwatchableQuery,
  { client, signal }: Pick<Context, "client" | "signal">,
): Promise<readonly Kind[]> {
  const used = new Set(content.members.map(({ identity }) => `${identity.apiVersion}/${identity.kind}`));
  const coming = [...content.provided.entries()]
    .filter(([key, kind]) => used.has(key) && kindIn(kinds, kind) === undefined)
    .map(([, kind]) => kind);
  if (hasStarted(plan) || coming.length === 0) return [];
  const review = await reviewRules(client, wholeCluster, signal);
  const { missing, doubtful } = missingPermissions(
    coming.flatMap(readPermissions),
    new Map([[wholeCluster, review]]),
  );
  const denied = [...missing, ...(await lackingOf(client, doubtful, signal))];
  return coming.map(asKind).filter(({ group, plural }) => denied.some(isFor(group, plural)));
}

function isFor(group: string, plural: string): (permission: Permission) => boolean {
  return (permission) => permission.group === group && permission.resource === plural;
}

function readPermissions({ apiVersion, plural }: ProvidedKind): readonly Permission[] {
  return ["get", "list", "watch"].map((verb) => ({ verb, group: groupOf(apiVersion), resource: plural }));
}

function asKind({ apiVersion, kind, plural, scope }: ProvidedKind): Kind {
  const [, version = ""] = apiVersion.split("/");
  return defineKind({ group: groupOf(apiVersion), version, kind, plural, scope });
}

/** ClusterRoles with this label are added to the operator's permissions to read; see config/rbac-limited. */
const readerLabel = "install.quartermaster.dev/aggregate-to-operator";

/** Which kinds the operator itself may not watch, and what helps. Without a full stop. */
export function describeUnwatchable(kinds: readonly Pick<Kind, "group" | "plural">[]): string {
  const names = [
    ...new Set(kinds.map(({ plural, group }) => (group === "" ? plural : `${plural}.${group}`))),
  ];
  const remedy = `grant it a ClusterRole with get, list and watch on them and the label ${readerLabel}: "true"`;
  return `The operator may not watch ${names.toSorted().join(", ")}; ${remedy}`;
}
