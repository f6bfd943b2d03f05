import { clusterBundle, share, type Share } from "@quartermaster/api";
import {
  byOwner,
  type Context,
  type Controller,
  classify,
  defineController,
  type Desired,
  type InformerRequest,
  isControlledBy,
  type Kind,
  type Live,
} from "@quartermaster/runtime";
import { type Role, type RoleBinding, roleBindings, roles } from "@quartermaster/runtime/kinds";

/** The service account of the share driver, as deploy/share-driver.yaml makes it. */
const driver = { name: "quartermaster-share-driver", namespace: "quartermaster-share-driver" } as const;

const shareLabel = "subscription.openshift.io/share";

/** Only ours are watched; one of somebody else under the name makes the apply fail. */
const ownKinds: readonly [InformerRequest<Role>, InformerRequest<RoleBinding>] = [
  { kind: roles, labelSelector: shareLabel, keepManagedFields: true },
  { kind: roleBindings, labelSelector: shareLabel, keepManagedFields: true },
];

/** Whose Shares it looks after. */
export interface ShareAccessOptions {
  /** Only those of ClusterBundles with these labels (default: all). */
  readonly clusterBundleSelector?: string;
}

/**
 * Lets the share driver read the object behind each Share of a ClusterBundle, and no other: one Role with the object's name, and its
 * binding, in the object's namespace. Both belong to the Share and go with it. Shares that somebody made by hand get nothing: who may
 * create a Share must not thereby make a Secret readable.
 */
export function shareAccessController({ clusterBundleSelector }: ShareAccessOptions = {}): Controller {
  const labelSelector = clusterBundleSelector === undefined ? {} : { labelSelector: clusterBundleSelector };
  return defineController<Share>(share.kind, {
    name: "shareaccess",
    writesStatus: false,
    owns: ownKinds,
    reads: [{ kind: clusterBundle.kind, ...labelSelector }],
    reconcile: async (object, ctx) => {
      const desired = isOfClusterBundle(object, ctx) ? desiredAccess(object) : undefined;
      await deleteObsolete(object, desired?.role.metadata.namespace, ctx);
      if (desired === undefined) return;
      await ctx.apply(roles, desired.role);
      await ctx.apply(roleBindings, desired.binding);
    },
  });
}

/** By the uid of a ClusterBundle that exists: anybody who may write a Share can put any name there. */
function isOfClusterBundle(object: Share, ctx: Context): boolean {
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.kind !== clusterBundle.kind.kind) return false;
  return ctx.store(clusterBundle.kind).get({ name: owner.name })?.metadata.uid === owner.uid;
}

/** What a Share is to grant. */
export interface ShareAccess {
  readonly role: Desired<Role>;
  readonly binding: Desired<RoleBinding>;
}

/** The Role and its binding; exactly one object, by name. */
export function desiredAccess({ metadata, spec }: Pick<Share, "metadata" | "spec">): ShareAccess {
  const { kind, name: objectName, namespace } = spec.backingResource;
  const name = `${metadata.name}-share-driver`;
  const shared = { name, namespace, labels: { [shareLabel]: labelValue(metadata.name) } };
  return {
    role: {
      metadata: shared,
      rules: [
        {
          apiGroups: [""],
          resources: [kind === "Secret" ? "secrets" : "configmaps"],
          resourceNames: [objectName],
          verbs: ["get", "watch"],
        },
      ],
    },
    binding: {
      metadata: shared,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", ...driver }],
    },
  };
}

/** Labels hold 63 characters; names of Shares may be longer. The owner reference says whose it is. */
function labelValue(name: string): string {
  return name.slice(0, 63).replace(/[^a-z0-9]+$/, "");
}

/** A Share that points to another namespace now, or is no longer a bundle's, must not leave a permission behind. */
async function deleteObsolete(
  object: Live<Share>,
  wantedNamespace: string | undefined,
  ctx: Context,
): Promise<void> {
  for (const kind of [roleBindings, roles] as readonly Kind[]) {
    const obsolete = ctx
      .store(kind)
      .listBy(byOwner, object.metadata.uid)
      .filter((each) => isControlledBy(each, object) && each.metadata.namespace !== wantedNamespace);
    for (const { metadata } of obsolete) await deleteOne(kind, metadata, ctx);
  }
}

async function deleteOne(kind: Kind, metadata: Live["metadata"], ctx: Context): Promise<void> {
  const { uid, resourceVersion } = metadata;
  try {
    await ctx.client.delete(kind, metadata, { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (classify(error) !== "notFound") throw error;
  }
}
