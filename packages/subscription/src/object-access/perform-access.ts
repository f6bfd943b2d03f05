import {
  byOwner,
  classify,
  type Context,
  ExternalError,
  isControlledBy,
  type Kind,
  type Live,
  reviewAccess,
  serviceAccountSubject,
} from "@quartermaster/runtime";
import { roleBindings, roles } from "@quartermaster/runtime/kinds";

import { bundleReasons } from "../bundle-reasons.ts";
import { type ObjectAccess, resourceOf } from "./object-access.ts";

/** One write of permissions for our other accounts. */
export type AccessAction =
  | { readonly kind: "applyAccess"; readonly access: ObjectAccess }
  | { readonly kind: "deleteAccess"; readonly of: AccessKind; readonly object: OwnedAccess };

type AccessKind = "Role" | "RoleBinding";

/** A Role or binding that belongs to a bundle. */
export interface OwnedAccess {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The Roles and bindings that belong to a bundle now. */
export type OwnedAccesses = Readonly<Record<AccessKind, readonly OwnedAccess[]>>;

const kinds: Readonly<Record<AccessKind, Kind>> = { Role: roles, RoleBinding: roleBindings };

/** Reads them from the stores. */
export function ownedAccesses(owner: Live, ctx: Pick<Context, "store">): OwnedAccesses {
  const of = (kind: AccessKind): readonly OwnedAccess[] =>
    ctx
      .store(kinds[kind])
      .listBy(byOwner, owner.metadata.uid)
      .filter((each) => isControlledBy(each, owner))
      .map(({ metadata: { name, namespace, uid, resourceVersion } }) => ({
        name,
        namespace,
        uid,
        resourceVersion,
      }));
  return { Role: of("Role"), RoleBinding: of("RoleBinding") };
}

/** Writes: permissions that are no longer declared go first, bindings before Roles. */
export function planAccess(wanted: readonly ObjectAccess[], owned: OwnedAccesses): readonly AccessAction[] {
  const keyOf = ({ name, namespace }: { readonly name: string; readonly namespace: string }): string =>
    `${namespace}/${name}`;
  const keys = new Set(wanted.map(({ role }) => keyOf(role.metadata)));
  const obsolete = (["RoleBinding", "Role"] as const).flatMap((of) =>
    owned[of]
      .filter((each) => !keys.has(keyOf(each)))
      .map((object) => ({ kind: "deleteAccess", of, object }) as const),
  );
  return [...obsolete, ...wanted.map((access) => ({ kind: "applyAccess", access }) as const)];
}

/** Carries out one of them. */
export async function performAccess(action: AccessAction, ctx: Context): Promise<void> {
  if (action.kind === "deleteAccess") {
    await deleteAccess(action, ctx);
    return;
  }
  const { access } = action;
  try {
    await ctx.apply(roles, access.role);
    await ctx.apply(roleBindings, access.binding);
  } catch (error) {
    if (classify(error) !== "forbidden") throw error;
    if (await isGranted(access, ctx)) return;
    throw new ExternalError(remedyFor(access), { class: "refused", reason: bundleReasons.grantForbidden });
  }
}

async function deleteAccess(
  { of, object }: Extract<AccessAction, { kind: "deleteAccess" }>,
  ctx: Context,
): Promise<void> {
  const { uid, resourceVersion } = object;
  await ctx.client.deleteIfPresent(kinds[of], object, { preconditions: { uid, resourceVersion } });
}

/** Whether an administrator has given the account what we may not give. */
async function isGranted({ account, objects }: ObjectAccess, { client, signal }: Context): Promise<boolean> {
  const subject = serviceAccountSubject(account);
  const responses = await Promise.all(
    objects.map(async ({ kind, namespace, name }) => {
      const request = { verb: "get", group: "", resource: resourceOf(kind), namespace, name };
      return await reviewAccess(client, request, { subject, signal });
    }),
  );
  return responses.every(Boolean);
}

function remedyFor({ role: { metadata, rules = [] }, account }: ObjectAccess): string {
  const names = rules.map(
    ({ resources = [], resourceNames = [] }) => `${resources.join(", ")} [${resourceNames.join(", ")}]`,
  );
  return `The operator may not write Roles. Apply config/rbac-limited/optional/subscription.yaml, or grant service account ${account.namespace}/${account.name} get and watch on ${names.join(" and ")} by a Role of namespace ${metadata.namespace}.`;
}
