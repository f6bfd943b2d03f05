import { apiVersionLabel, operatorNamespaceLabel } from "@quartermaster/api/release";
import { compareDottedVersions } from "@quartermaster/runtime/versions";

/** What the operator stands on, as the cluster has it. */
export interface Installation {
  /** Labels of CustomResourceDefinitions by name. */
  readonly crds: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Names of ValidatingAdmissionPolicies, and of bindings. */
  readonly policies: ReadonlySet<string>;
  readonly bindings: ReadonlySet<string>;
}

/** A CustomResourceDefinition of a domain that runs. */
export interface NeededCrd {
  readonly name: string;
  /** Another product may bring it, without our labels, or it may be absent. */
  readonly isShared: boolean;
}

/** What the operator needs. */
export interface Needs {
  /** The operator's own. */
  readonly release: string;
  readonly crds: readonly NeededCrd[];
  /** Names of policies, each with a binding of the same name; empty where they are not required. */
  readonly policies: readonly string[];
  /** Where this operator runs; undefined outside a cluster. */
  readonly namespace: string | undefined;
  /** It watches all namespaces. */
  readonly isClusterWide: boolean;
}

/** Why the operator must not act: one sentence for each problem, with its remedy. Names are sorted, so that a message stays the same. */
export function installationProblems(needs: Needs, found: Installation): readonly string[] {
  return [missingCrds, olderCrds, otherHolder, missingPolicies].flatMap((problem) => {
    const text = problem(needs, found);
    return text === undefined ? [] : [text];
  });
}

function missingCrds({ crds, release }: Needs, found: Installation): string | undefined {
  const names = crds.filter(({ name, isShared }) => !isShared && !found.crds.has(name));
  if (names.length === 0) return undefined;
  return `CustomResourceDefinitions are missing: ${listed(names)}. ${upgradeCrds(release)}`;
}

/** One without the label is older than the label, or another product's. */
function olderCrds({ crds, release }: Needs, found: Installation): string | undefined {
  const older = crds.flatMap(({ name, isShared }) => {
    const labels = found.crds.get(name);
    const version = labels?.[apiVersionLabel];
    if (labels === undefined || (version === undefined && isShared)) return [];
    if (version !== undefined && compareDottedVersions(version, release) >= 0) return [];
    return [{ name: `${name} (${version ?? "no version"})` }];
  });
  if (older.length === 0) return undefined;
  return `CustomResourceDefinitions are older than this operator, which needs version ${release}: ${listed(older)}. ${upgradeCrds(release)}`;
}

function upgradeCrds(release: string): string {
  return `Run helm upgrade with version ${release} of the chart that brings them, or kubectl apply --server-side -f install.yaml of release ${release}.`;
}

/** An operator in a namespace of its own, or outside the cluster, would act beside the one that the CRDs name. */
function otherHolder({ crds, namespace, isClusterWide }: Needs, found: Installation): string | undefined {
  if (!isClusterWide) return undefined;
  const holders = crds.flatMap(({ name }) => found.crds.get(name)?.[operatorNamespaceLabel] ?? []);
  const others = [...new Set(holders)].filter((holder) => holder !== namespace).toSorted();
  if (others.length === 0) return undefined;
  const own = namespace === undefined ? "outside the cluster" : `in namespace ${namespace}`;
  return `The operator in namespace ${others.join(" and ")} serves this cluster, and this one runs ${own}. Remove one of them; to hand over, run helm upgrade with api.operatorNamespace, or change the label ${operatorNamespaceLabel} of the CustomResourceDefinitions.`;
}

function missingPolicies({ policies }: Needs, found: Installation): string | undefined {
  const missing = [
    ...policies.filter((name) => !found.policies.has(name)).map((name) => `policy ${name}`),
    ...policies.filter((name) => !found.bindings.has(name)).map((name) => `binding ${name}`),
  ];
  if (missing.length === 0) return undefined;
  return `Admission policies are missing: ${missing.toSorted().join(", ")}. Without them tenants can forge authors and statuses. Run helm upgrade with api.policies.enabled=true, or kubectl apply --server-side -f install.yaml; --require-policies=false (QM_REQUIRE_POLICIES) does without them.`;
}

function listed(crds: readonly { readonly name: string }[]): string {
  return crds
    .map(({ name }) => name)
    .toSorted()
    .join(", ");
}
