import { type InstallPlan, installPlan, type ResourceManifest } from "@quartermaster/api";
import { checkExpression } from "@quartermaster/health";
import {
  flattenList,
  objectProblems,
  readContent,
  resolveManifest,
} from "@quartermaster/install-plan/offline";

/** Everything that is wrong with a plan as far as that can be seen without a cluster; the manifests are those at hand. */
export function planFaults(value: unknown, manifests: readonly ResourceManifest[]): readonly string[] {
  const issues = installPlan.check(value).map(({ path, message }) => `${path}: ${message}`);
  if (issues.length > 0) return issues;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind's own check has just passed
  const plan = value as InstallPlan;
  const problems = [...nameProblems(plan), ...plan.spec.stages.flatMap((stage) => stageProblems(stage))];
  return problems.length > 0 ? problems : contentProblems(plan, manifests);
}

type Stage = InstallPlan["spec"]["stages"][number];

/** The server's own fields may be there: the plan may come from a cluster. */
function nameProblems({ metadata, spec }: InstallPlan): readonly string[] {
  const about = { apiVersion: "v1", kind: "InstallPlan", metadata: { ...metadata } };
  const isOurs = (field: string): boolean => field === "metadata.name" || field === "metadata.namespace";
  return [
    ...objectProblems(about)
      .filter(({ field }) => isOurs(field))
      .map(({ field, message }) => `${field} ${message}`),
    ...twice(spec.stages).map((name) => `spec.stages: duplicate stage ${name}`),
  ];
}

function twice(named: readonly { readonly name: string }[]): readonly string[] {
  const names = named.map(({ name }) => name);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function stageProblems({ name, resources = [], jobs = [] }: Stage): readonly string[] {
  return [
    ...resources.flatMap(({ manifest, readiness }, index) =>
      [...manifestProblems(manifest), ...expressionProblems(readiness?.checks ?? [])].map(
        (problem) => `stage ${name}, resource ${index}: ${problem}`,
      ),
    ),
    ...twice(jobs).map((job) => `stage ${name}: duplicate job ${job}`),
  ];
}

function manifestProblems(manifest: unknown): readonly string[] {
  if (manifest === undefined) return [];
  const flattened = flattenList(manifest);
  if (flattened.kind === "refused") return [flattened.message];
  return flattened.items.flatMap((item) =>
    objectProblems(item).map(({ field, message }) => `${field} ${message}`),
  );
}

function expressionProblems(
  checks: readonly { readonly cel?: { readonly expression: string } | undefined }[],
): readonly string[] {
  return checks.flatMap(({ cel }) => (cel === undefined ? [] : (checkExpression(cel.expression) ?? [])));
}

/** Which kinds and namespaces there are only a cluster knows, and manifests may be there already. */
const needCluster: ReadonlySet<string> = new Set([
  "KindMissing",
  "NamespaceMissing",
  "ManifestMissing",
  "SecretMissing",
]);

/** As the operator reads it: jobs, transformations, copies that differ, Secrets, digests. */
function contentProblems(plan: InstallPlan, manifests: readonly ResourceManifest[]): readonly string[] {
  const byName = new Map(manifests.map((manifest) => [manifest.metadata.name, manifest]));
  const { issues, unresolved } = readContent(withDefaults(plan), {
    manifestOf: (name) => byName.get(name),
    resolve: (manifest) => resolveManifest(manifest, () => undefined),
    kindOf: () => undefined,
    hasNamespace: () => true,
  });
  return [...issues, ...unresolved]
    .filter(({ reason }) => !needCluster.has(reason))
    .map(({ stage, message }) => (stage === undefined ? message : `stage ${stage}: ${message}`));
}

/** What the server would fill in and the reading of the content looks at. */
function withDefaults(plan: InstallPlan): InstallPlan {
  const { transformations = [] } = plan.spec;
  const filled = transformations.map((rule) => ({
    ...rule,
    strategy: rule.strategy ?? "CreateBeforeDelete",
  }));
  const metadata = { ...plan.metadata, namespace: plan.metadata.namespace ?? "default" };
  return {
    ...plan,
    metadata,
    spec: { ...plan.spec, scope: plan.spec.scope ?? "Namespace", transformations: filled },
  };
}
