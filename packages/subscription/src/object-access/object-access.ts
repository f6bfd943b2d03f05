import type { Desired, InformerRequest } from "@quartermaster/runtime";
import {
  type PolicyRule,
  type Role,
  type RoleBinding,
  roleBindings,
  roles,
} from "@quartermaster/runtime/kinds";

import { type ObjectIdentity, referenceKey } from "../injection/injection-facts.ts";

/** A service account of ours. */
export interface Account {
  readonly name: string;
  readonly namespace: string;
}

/** The service account of the share driver, as deploy/share-driver.yaml makes it. */
export const driverAccount: Account = {
  name: "quartermaster-share-driver",
  namespace: "quartermaster-share-driver",
};

/** Permission of one of our accounts to read exactly these objects of a namespace: a Role and its binding. */
export interface ObjectAccess {
  readonly role: Desired<Role> & Named;
  readonly binding: Desired<RoleBinding> & Named;
  /** Who may read them. */
  readonly account: Account;
  readonly objects: readonly ObjectIdentity[];
}

interface Named {
  readonly metadata: { readonly name: string; readonly namespace: string };
}

/** On each such Role and binding: for whom it is. */
const accessLabel = "subscription.openshift.io/object-access";

/** Only ours are watched; another object under the name makes the apply fail. */
export const accessSources: readonly [InformerRequest<Role>, InformerRequest<RoleBinding>] = [
  { kind: roles, labelSelector: accessLabel, keepManagedFields: true },
  { kind: roleBindings, labelSelector: accessLabel, keepManagedFields: true },
];

/** Lets the share driver read the object of a Share that the bundle has declared. What a Share says of itself does not count. */
export function driverAccess(shareName: string, object: ObjectIdentity): ObjectAccess {
  const name = `${shareName}-share-driver`;
  return accessOf([object], {
    name,
    namespace: object.namespace,
    account: driverAccount,
    use: "share-driver",
  });
}

/** Lets the webhook read the names of keys of the objects that a bundle refers to: one Role for each of their namespaces. */
export function webhookAccess(
  { kind, name }: { readonly kind: string; readonly name: string },
  objects: readonly ObjectIdentity[],
  account: Account | undefined,
): readonly ObjectAccess[] {
  if (account === undefined) return [];
  const distinct = new Map(objects.map((object) => [referenceKey(object), object]));
  const byNamespace = Map.groupBy(distinct.values(), ({ namespace }) => namespace);
  return [...byNamespace].map(([namespace, group]) =>
    accessOf(group, { name: `${kind.toLowerCase()}-${name}-webhook`, namespace, account, use: "webhook" }),
  );
}

interface AccessName {
  readonly name: string;
  readonly namespace: string;
  readonly account: Account;
  readonly use: "share-driver" | "webhook";
}

function accessOf(
  objects: readonly ObjectIdentity[],
  { name, namespace, account, use }: AccessName,
): ObjectAccess {
  const metadata = { name, namespace, labels: { [accessLabel]: use } };
  return {
    account,
    objects,
    role: { metadata, rules: (["Secret", "ConfigMap"] as const).flatMap((kind) => ruleFor(kind, objects)) },
    binding: {
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", ...account }],
    },
  };
}

/** No rule without names: that would permit every object of the namespace. */
function ruleFor(kind: ObjectIdentity["kind"], objects: readonly ObjectIdentity[]): readonly PolicyRule[] {
  const resourceNames = objects.filter((object) => object.kind === kind).map(({ name }) => name);
  if (resourceNames.length === 0) return [];
  return [
    {
      apiGroups: [""],
      resources: [resourceOf(kind)],
      resourceNames: resourceNames.toSorted(),
      verbs: ["get", "watch"],
    },
  ];
}

/** As RBAC names the kind. */
export function resourceOf(kind: ObjectIdentity["kind"]): "secrets" | "configmaps" {
  return kind === "Secret" ? "secrets" : "configmaps";
}
