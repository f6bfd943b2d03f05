import type { GeneratedFile } from "@quartermaster/api/generate";
import {
  type ConfigurationName,
  configurationOwnerLabel,
  type Domain,
  type OperatorRole,
  type OwnPermission,
  ownPermissions,
} from "@quartermaster/runtime";

import { installationPermissions } from "../installation/installation-permissions.ts";
import { webhookClusterRole } from "../webhook-options.ts";
import { bindingText, commentLines, type RbacRule, rbacText } from "./rbac-text.ts";

/** The operator as it is deployed. */
const operator = { name: "quartermaster", namespace: "quartermaster" } as const;

/**
 * The permissions of the operator: what its domains and its runtime need, each rule below its reason. Two sets for the controllers,
 * one of which is applied, and an account of its own for the webhook as soon as a domain has one.
 */
export function permissionFiles(domains: readonly Domain[]): readonly GeneratedFile[] {
  const hasWebhooks = domains.some((domain) => "webhooks" in domain);
  const configurations = domains.flatMap((domain) => domain.webhookConfigurations ?? []);
  const own = [
    ...ownPermissions({
      ...operator,
      configurations: hasWebhooks ? configurations : undefined,
      clusterRole: webhookClusterRole,
    }),
    ...installationPermissions,
  ];
  const rulesOf = (role: OperatorRole): readonly DomainRule[] => [
    ...domains
      .flatMap(({ permissions }) => permissions)
      .filter((each) => (each.role ?? "controllers") === role),
    ...own.filter((each) => each.role === role && !each.isNamespaced),
  ];
  const leader = rbacText({
    name: "quartermaster-leader",
    namespace: operator.namespace,
    rules: namespaced(own, "controllers"),
  });
  return [
    { path: "config/rbac/operator.yaml", content: fullSet(rulesOf("controllers"), leader) },
    { path: "config/rbac-limited/operator.yaml", content: limitedSet(rulesOf("controllers"), leader) },
    ...domains.flatMap(optionalSet),
    ...(hasWebhooks
      ? [
          { path: "config/rbac/webhook.yaml", content: webhookAccount(rulesOf("webhook"), own) },
          { path: "config/webhook/configurations.yaml", content: emptyConfigurations(configurations) },
        ]
      : []),
  ];
}

function namespaced(own: readonly OwnPermission[], role: OperatorRole): readonly RbacRule[] {
  return own.filter((each) => each.role === role && each.isNamespaced);
}

/** The set that reads everything: rules that only read are part of its first one. */
function fullSet(rules: readonly RbacRule[], leader: string): string {
  const role = rbacText({
    name: "quartermaster-operator",
    rules: [...everything, ...rules.filter(isWriting)],
  });
  return documents(
    [
      "What the operator itself may do. Everything that a plan installs is written with the permissions of the plan's own account.",
      "Effectively cluster-admin, because it can act as every service account; ../rbac-limited is the default in a cluster.",
    ],
    [role, leader],
  );
}

/** Whether a rule allows more than reading. */
function isWriting({ verbs }: RbacRule): boolean {
  return verbs.some((verb) => !["get", "list", "watch"].includes(verb));
}

function limitedSet(rules: readonly DomainRule[], leader: string): string {
  const own = rbacText({
    name: "quartermaster-operator-own",
    labels: { [aggregateLabel]: "true" },
    rules: rules.filter(({ isOptional }) => isOptional !== true),
  });
  return documents(
    [
      "What the operator may do: it reads named kinds and acts as accounts of namespaces that opt in. The alternative that reads everything and acts as every account, ../rbac/operator.yaml, has the same names, so that the one takes the other's place. How: docs/guides/install.md.",
      "The sum of all ClusterRoles with the label: those below, and one of yours for each custom kind that plans hold.",
    ],
    [aggregate, own, leader],
  );
}

interface DomainRule extends RbacRule {
  readonly isOptional?: true;
}

/** What a domain needs beyond the limited set, for those who want all of it. */
function optionalSet({ name, permissions }: Domain): readonly GeneratedFile[] {
  const rules = permissions.filter(({ isOptional }) => isOptional === true);
  if (rules.length === 0) return [];
  const role = rbacText({
    name: `quartermaster-operator-${name}`,
    labels: { [aggregateLabel]: "true" },
    rules,
  });
  const about = `What the operator needs besides for the domain ${name} to work in all namespaces.`;
  return [{ path: `config/rbac-limited/optional/${name}.yaml`, content: documents([about], [role]) }];
}

/** The webhook's account: no lease, nothing of the controllers'. */
function webhookAccount(rules: readonly RbacRule[], own: readonly OwnPermission[]): string {
  const account = { name: "quartermaster-webhook", namespace: operator.namespace };
  const clusterRole = { name: account.name };
  return documents(
    ["Who the webhook is: an account of its own, with less than the controllers' account has."],
    [
      `apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: ${account.name}\n  namespace: ${account.namespace}\n`,
      rbacText({ ...clusterRole, rules }),
      bindingText(clusterRole, account),
      rbacText({ ...account, rules: namespaced(own, "webhook") }),
      bindingText(account, account),
    ],
  );
}

/** What the operator updates and may not create. It says no webhooks, so that to apply it again takes none away. */
function emptyConfigurations(configurations: readonly ConfigurationName[]): string {
  const owner = `${operator.namespace}.${operator.name}`;
  return documents(
    [
      "Webhook configurations of the operator, which fills them in: it may update these and create none. Delete them before the operator's webhook goes: docs/guides/install.md.",
    ],
    configurations.map(({ kind, name }) =>
      [
        "apiVersion: admissionregistration.k8s.io/v1",
        `kind: ${kind === "mutating" ? "Mutating" : "Validating"}WebhookConfiguration`,
        "metadata:",
        `  name: ${name}`,
        "  labels:",
        `    ${configurationOwnerLabel}: ${owner}`,
        "",
      ].join("\n"),
    ),
  );
}

/** Rules of the set that reads everything. */
export const everything: readonly RbacRule[] = [
  {
    reason:
      'Any kind can be part of a plan, those that it brings itself too: objects are watched for drift and health. Nothing is written, but subresources such as nodes/proxy and pods/exec are part of "*", and RBAC cannot leave them out.',
    apiGroups: ["*"],
    resources: ["*"],
    verbs: ["get", "list", "watch"],
  },
  {
    reason:
      "Every write of a plan is made as the plan's account. The limited permissions grant this per namespace.",
    apiGroups: [""],
    resources: ["serviceaccounts"],
    verbs: ["impersonate"],
  },
];

/** ClusterRoles with this label add up to the limited permissions of the operator. */
export const aggregateLabel = "install.quartermaster.dev/aggregate-to-operator";

const aggregate = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: quartermaster-operator
aggregationRule:
  clusterRoleSelectors:
    - matchLabels:
        ${aggregateLabel}: "true"
`;

function documents(about: readonly string[], parts: readonly string[]): string {
  const head = ["# Generated by `make gen`; do not edit.", ...about.flatMap((each) => commentLines(each))];
  return `${head.join("\n")}\n${parts.join("---\n")}`;
}
