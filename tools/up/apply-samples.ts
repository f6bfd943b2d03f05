import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { hasRealNodes, type Kubectl, kubectlIn, repository, runQm, UpError } from "./programs.ts";

/** The plan that `make up` applies. */
const plan = {
  file: join(repository, "config/samples/greeting.yaml"),
  namespace: "greeting",
  name: "greeting-1",
};

/** The pod that `make up` gives entitlements to. */
const entitled = {
  file: join(repository, "config/samples/entitled.yaml"),
  namespace: "entitled",
  pod: "entitled",
  directory: "/run/secrets/etc-pki-entitlement",
};

/** Applies the sample plan and returns its name. */
export async function applySamplePlan(kubectl: Kubectl, signal: AbortSignal): Promise<string> {
  await applySample(kubectl, plan.file, signal);
  return plan.name;
}

/**
 * For some seconds after a kind is served the API server's admission policies do not know it yet, and plans are refused with
 * "service unavailable". The policy comes first all the same, so that no plan is made without it; applying the sample is repeated.
 */
export async function applySample(kubectl: Kubectl, file: string, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + admissionTimeoutMs;
  for (;;) {
    try {
      await kubectl(["apply", "--server-side", "-f", file]);
      return;
    } catch (error) {
      if (!(error instanceof UpError) || performance.now() > end) throw error;
    }
    await sleep(300, undefined, { signal });
  }
}

const admissionTimeoutMs = 40_000;

/** Waits until the sample plan is Ready, shows a pod with entitlements and prints what to try. */
export async function watchSamples(directory: string, operatorLogPath: string): Promise<void> {
  const watching = ["--watch", "--timeout", String(timeoutSeconds)];
  if (!(await runQm(directory, ["plan", "status", plan.name, "-n", plan.namespace, ...watching])))
    throw new UpError(`plan ${plan.name} is not ready; the operator's log may say why: ${operatorLogPath}`);
  const kubectl = kubectlIn(directory);
  const isReal = await hasRealNodes(kubectl);
  if (isReal) await installShareDriver(kubectl);
  // The pod is refused until the webhook is registered: a policy keeps it from starting without its files.
  await applySample(kubectl, entitled.file);
  if (isReal) await showEntitlements(kubectl);
  process.stdout.write(`${tryNext}\n`);
}

const timeoutSeconds = 180;

/** Runs the share driver on every real node, so that ClusterBundles mount, and waits until kubelet has registered it. */
async function installShareDriver(kubectl: Kubectl): Promise<void> {
  await kubectl(["apply", "--server-side", "-f", join(repository, "deploy/share-driver.yaml")]);
  const driver = "quartermaster-share-driver";
  await kubectl(["-n", driver, "rollout", "status", `daemonset/${driver}`, "--timeout=120s"]);
}

/** The files of a Bundle as its pod sees them. Simulated pods have none. */
async function showEntitlements(kubectl: Kubectl): Promise<void> {
  const { namespace, pod, directory } = entitled;
  const inNamespace = ["-n", namespace];
  await kubectl([...inNamespace, "wait", "--for=condition=Ready", `pod/${pod}`, "--timeout=50s"]);
  const listing = await kubectl([...inNamespace, "exec", pod, "--", "ls", "-l", directory]);
  process.stdout.write(
    `\nPod ${namespace}/${pod} has the files of its Bundle in ${directory}:\n${listing.trimEnd()}\n`,
  );
}

/** The last lines of `make up`. A test runs each command. */
const tryNext = `
Try next, with KUBECONFIG and PATH set as above:

  change an object and see it come back
    kubectl -n greeting scale deployment greeting --replicas=5
    kubectl -n greeting get deployment greeting

  delete one and see it made again
    kubectl -n greeting delete service greeting
    kubectl -n greeting get service greeting

  replace the plan by another, without a gap
    kubectl apply -f config/samples/replace.yaml
    npx qm plan status greeting-2 -n greeting --watch

  delete the plan and all that it installed
    kubectl -n greeting delete installplan greeting-2
    kubectl -n greeting get configmap,deployment,service
`;
