import { stolenToken } from "./stolen-token.ts";

/** One rule with the reason that stands above it. */
export interface RbacRule {
  readonly reason: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** A Role or ClusterRole. Without a namespace it is the latter. */
export interface RbacRole {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly rules: readonly RbacRule[];
}

/** A role as YAML, each rule with its reason as a comment: what a reviewer of permissions reads. */
export function rbacText({ name, namespace, labels = {}, rules }: RbacRole): string {
  return [
    ...headOf(namespace === undefined ? "ClusterRole" : "Role", { name, namespace }),
    ...labelLines(labels),
    ...(rules.length === 0 ? ["rules: []"] : ["rules:", ...rules.flatMap(ruleLines)]),
    "",
  ].join("\n");
}

/** The binding of a role to a service account of the same namespace, as YAML. */
export function bindingText(
  { name, namespace }: Pick<RbacRole, "name" | "namespace">,
  account: { readonly name: string; readonly namespace: string },
): string {
  const kind = namespace === undefined ? "ClusterRole" : "Role";
  return [
    ...headOf(`${kind}Binding`, { name, namespace }),
    "roleRef:",
    "  apiGroup: rbac.authorization.k8s.io",
    `  kind: ${kind}`,
    `  name: ${name}`,
    "subjects:",
    "  - kind: ServiceAccount",
    `    name: ${account.name}`,
    `    namespace: ${account.namespace}`,
    "",
  ].join("\n");
}

/** Lines of a comment, none longer than 130 characters. */
export function commentLines(text: string, indent = ""): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const terms of text.split(" ")) {
    const longer = line === "" ? terms : `${line} ${terms}`;
    if (longer.length + indent.length + 2 > widthLimit && line !== "") {
      lines.push(line);
      line = terms;
    } else line = longer;
  }
  return [...lines, line].map((each) => `${indent}# ${each}`);
}

const widthLimit = 130;

function headOf(
  kind: string,
  { name, namespace }: { readonly name: string; readonly namespace: string | undefined },
): readonly string[] {
  return [
    "apiVersion: rbac.authorization.k8s.io/v1",
    `kind: ${kind}`,
    "metadata:",
    `  name: ${name}`,
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
  ];
}

function labelLines(labels: Readonly<Record<string, string>>): readonly string[] {
  const lines = Object.entries(labels).map(([key, value]) => `    ${key}: "${value}"`);
  return lines.length === 0 ? [] : ["  labels:", ...lines];
}

/** A rule below its reason, as lines of YAML. */
export function ruleLines(rule: RbacRule): readonly string[] {
  const { reason, apiGroups, resources, resourceNames, verbs } = rule;
  return [
    ...commentLines(reason, "  "),
    ...commentLines(stolenToken(rule), "  "),
    `  - apiGroups: ${listText(apiGroups)}`,
    `    resources: ${listText(resources)}`,
    ...(resourceNames === undefined ? [] : [`    resourceNames: ${listText(resourceNames)}`]),
    `    verbs: ${listText(verbs)}`,
  ];
}

function listText(items: readonly string[]): string {
  return `[${items.map((item) => (/^[a-z]/.test(item) ? item : `"${item}"`)).join(", ")}]`;
}
