import { bundle, clusterBundle } from "@quartermaster/api";
import {
  type Controller,
  defineController,
  defineKind,
  type Desired,
  isKindServed,
  type Kind,
  type KubeObject,
} from "@quartermaster/runtime";
import { type CustomResourceDefinition, customResourceDefinitions } from "@quartermaster/runtime/kinds";

/** `console.openshift.io/v1` ConsoleYAMLSample. */
interface ConsoleYamlSample extends KubeObject {
  readonly spec?: {
    readonly targetResource: { readonly apiVersion: string; readonly kind: string };
    readonly title: string;
    readonly description: string;
    readonly yaml: string;
  };
}

/** Where samples of the console are served. */
export const consoleYamlSamples: Kind<ConsoleYamlSample> = defineKind<ConsoleYamlSample>({
  group: "console.openshift.io",
  version: "v1",
  kind: "ConsoleYAMLSample",
  plural: "consoleyamlsamples",
  scope: "Cluster",
});

/**
 * Keeps two samples in the console of OpenShift; on other platforms it does nothing. The definition of ClusterBundle owns them, so
 * that they go with it.
 */
export function consoleSampleController(): Controller {
  return defineController<CustomResourceDefinition>(customResourceDefinitions, {
    name: "consolesamples",
    fieldSelector: `metadata.name=${clusterBundle.kind.plural}.${clusterBundle.kind.group}`,
    writesStatus: false,
    owns: [consoleYamlSamples],
    reconcile: async (_definition, ctx) => {
      if (!isKindServed(consoleYamlSamples, ctx)) return;
      for (const sample of consoleSamples) await ctx.apply(consoleYamlSamples, sample);
    },
  });
}

/** The samples; their YAML is applied by a test. */
export const consoleSamples: readonly Desired<ConsoleYamlSample>[] = [
  sampleOf(clusterBundle.kind, {
    name: "subscription-cluster-bundle-example",
    title: "Cluster-wide subscription bundle example",
    description:
      "An example of a subscription bundle that can be injected into any workload that has the `subscription.openshift.io/inject-cluster-bundle: cluster` annotation in its pod spec, and whose service account has the `edit` or `admin` role.",
    yaml: `metadata:
  name: cluster
spec:
  aggregateToClusterRoles:
  - edit
  - admin
  entitlements:
  - name: etc-pki-entitlement
    namespace: openshift-config
`,
  }),
  sampleOf(bundle.kind, {
    name: "subscription-namespaced-bundle-example",
    title: "Namespaced subscription bundle example",
    description:
      "An example of a subscription bundle that can be injected into any workload in the bundle's namespace that has the `subscription.openshift.io/inject-bundle: subscription` annotation in its pod spec.",
    yaml: `metadata:
  name: subscription
spec:
  entitlements:
  - name: etc-pki-entitlement
`,
  }),
];

interface SampleOptions {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly yaml: string;
}

function sampleOf(
  { group, kind }: Kind,
  { name, title, description, yaml }: SampleOptions,
): Desired<ConsoleYamlSample> {
  const target = { apiVersion: `${group}/v1`, kind };
  const head = `apiVersion: ${target.apiVersion}\nkind: ${kind}\n`;
  return { metadata: { name }, spec: { targetResource: target, title, description, yaml: `${head}${yaml}` } };
}
