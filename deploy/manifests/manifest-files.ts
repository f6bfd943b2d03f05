import { renderChart } from "./render-chart.ts";

/** Everything but the share driver, which needs a privileged namespace. */
const allDomains = ["subscription", "licensing", "search"].map((name) => `domains.${name}.enabled=true`);

/**
 * The rendered files of deploy/ by name: for kubectl, and for those who do not use Helm. One `kubectl apply -f` accepts each: the
 * namespace comes first, then what the rest refers to.
 */
export const manifestFiles: Readonly<Record<string, (digest: string) => string>> = {
  "install.yaml": (digest) =>
    `${head(digest, "Everything but the share driver: install with `kubectl apply -f`. Needs Kubernetes 1.36, because it records authors; for older ones use the chart.")}${ownNamespace}${renderChart(
      { values: [...allDomains, "api.policies.authorRecord=Always"] },
    )}`,
  "share-driver.yaml": (digest) =>
    `${head(digest, "The share driver, which mounts ClusterBundles on any Kubernetes, with its privileged namespace.")}${renderChart(
      { values: ["shareDriver.enabled=true"], only: ["templates/share-driver.yaml"] },
    )}`,
};

function head(digest: string, about: string): string {
  return `# ${about}\n# Rendered from deploy/charts by \`make manifests\`; do not edit.\n# Charts: sha256:${digest}\n`;
}

const ownNamespace = `---
apiVersion: v1
kind: Namespace
metadata:
  name: quartermaster
  labels:
    # Our pods need nothing beyond this.
    pod-security.kubernetes.io/enforce: restricted
    pod-security.kubernetes.io/warn: restricted
`;
