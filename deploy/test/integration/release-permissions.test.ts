import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { type LocalCluster, startLocalCluster } from "@quartermaster/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

import { helm } from "../../manifests/helm.ts";
import { chart } from "../../manifests/render-chart.ts";
import { kubectl, repository, runHelm } from "../support/installed-cluster.ts";

let cluster: LocalCluster;

beforeAll(async () => {
  // Without nodes: permissions and objects are there, pods are not.
  cluster = await startLocalCluster({ kwokNodes: 0 });
  runHelm(cluster, `install quartermaster ${chart} --namespace quartermaster --create-namespace`);
  await kubectl(cluster, "create namespace team");
  for (const role of ["view", "edit", "admin"])
    await kubectl(cluster, `-n team create rolebinding ${role} --clusterrole=${role} --user=${role}`);
}, 600_000);

afterAll(async () => {
  await cluster?.stop();
});

async function mayDo(user: string, requests: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const responses = await Promise.all(
    requests.map(async (request) => {
      const args = ["auth", "can-i", ...request.split(" "), "--as", user];
      return [request, (await cluster.kubectl(args)).stdout.trim()] as const;
    }),
  );
  return Object.fromEntries(responses);
}

function all(requests: readonly string[], response: "yes" | "no"): Readonly<Record<string, string>> {
  return Object.fromEntries(requests.map((request) => [request, response]));
}

test("[packaging/PK-32] with the limited profile the operator may not do what makes an administrator", async () => {
  const account = "system:serviceaccount:quartermaster:quartermaster-operator";
  const requests = [
    "list secrets -A",
    "get secrets -A",
    "watch secrets -A",
    "create secrets -n quartermaster",
    "impersonate users",
    "impersonate groups",
    "impersonate serviceaccounts -A",
    "escalate clusterroles",
    "bind clusterroles",
    "escalate roles -n quartermaster",
    "bind roles -n quartermaster",
    "get nodes --subresource=proxy",
    "create nodes --subresource=proxy",
    "create pods --subresource=exec -A",
    "get pods --subresource=exec -A",
    "create pods -A",
    "create serviceaccounts --subresource=token -A",
    "create clusterrolebindings",
    "create mutatingwebhookconfigurations",
    "approve certificatesigningrequests",
    "* * -A",
  ];
  expect(await mayDo(account, requests)).toEqual(all(requests, "no"));
  expect(await mayDo(account, ["watch pods -A"])).toEqual({ "watch pods -A": "yes" });
});

/** Runs `qm doctor` as its user does. */
function doctor(): { readonly status: number | null; readonly stdout: string } {
  const program = join(repository, "apps/cli/src/main.ts");
  const { status, stdout } = spawnSync(process.execPath, [program, "doctor"], {
    encoding: "utf8",
    env: { ...process.env, KUBECONFIG: cluster.kubeconfigPath },
  });
  return { status, stdout };
}

test("qm doctor names what is installed and what is missing", async () => {
  const { status, stdout } = doctor();
  expect(stdout).toContain(
    "[ok] 10 definitions of release 0.0.0, served by the operator in namespace quartermaster",
  );
  expect(stdout).toContain("[ok] 22 admission policies");
  // There are no nodes.
  expect(stdout).toContain("[!] Deployment quartermaster/quartermaster-operator: 0 of 2 ready");
  expect(stdout).toContain("domains install-plan; its log says why: kubectl -n quartermaster logs");
  expect(status).toBe(3);
  await kubectl(cluster, "delete validatingadmissionpolicybinding quartermaster-status");
  expect(doctor().stdout).toContain("[!] policies without a binding have no effect: quartermaster-status;");
  runHelm(cluster, `upgrade quartermaster ${chart} --namespace quartermaster`);
  expect(doctor().stdout).toContain("[ok] 22 admission policies");
}, 60_000);

const namespaced = [
  "installplans.install.quartermaster.dev",
  "bundles.subscription.openshift.io",
  "opensearchclusters.opensearch.org",
  "opensearchclusters.opensearch.opster.io",
  "elasticsearchclusters.elasticsearch.k8s.elastic.co",
  "clusterlicenses.elasticsearch.k8s.elastic.co",
];

test("[packaging/PK-33] view reads our namespaced kinds, edit writes them and approves nothing, and without aggregation neither does", async () => {
  const reads = namespaced.flatMap((kind) => [`get ${kind} -n team`, `list ${kind} -n team`]);
  const writes = namespaced.flatMap((kind) =>
    ["create", "update", "patch", "delete"].map((verb) => `${verb} ${kind} -n team`),
  );
  const others = [
    "approve installplans.install.quartermaster.dev -n team",
    "operate installplans.install.quartermaster.dev -n team",
    "update installplans.install.quartermaster.dev --subresource=status -n team",
    "list clusterbundles.subscription.openshift.io",
    "list installplans.install.quartermaster.dev -n default",
  ];
  await expect.poll(async () => await mayDo("edit", writes), { timeout: 30_000 }).toEqual(all(writes, "yes"));
  expect(await mayDo("view", reads)).toEqual(all(reads, "yes"));
  expect(await mayDo("view", [...writes, ...others])).toEqual(all([...writes, ...others], "no"));
  expect(await mayDo("edit", others)).toEqual(all(others, "no"));
  // Manifests may hold Secrets, which a viewer does not read.
  expect(await mayDo("view", ["get resourcemanifests.install.quartermaster.dev -n team"])).toEqual({
    "get resourcemanifests.install.quartermaster.dev -n team": "no",
  });
  const off = "--reuse-values --set api.aggregateToDefaultRoles=false";
  runHelm(cluster, `upgrade quartermaster ${chart} --namespace quartermaster ${off}`);
  await expect.poll(async () => await mayDo("view", reads), { timeout: 30_000 }).toEqual(all(reads, "no"));
  expect(await mayDo("edit", writes)).toEqual(all(writes, "no"));
}, 120_000);

test("[packaging/PK-12] after an edit by a user the upgrade's conflict names field and manager, and --force-conflicts restores the chart's value", async () => {
  const replicas = "-n quartermaster get deployment quartermaster-operator -o jsonpath={.spec.replicas}";
  await kubectl(cluster, "-n quartermaster scale deployment quartermaster-operator --replicas=5");
  const upgrade = `upgrade quartermaster ${chart} --namespace quartermaster`;
  const { code, stderr } = helm(upgrade.split(" "), { kubeconfigPath: cluster.kubeconfigPath });
  expect({ code, stderr }).toMatchObject({ code: 1 });
  expect(stderr).toMatch(/conflict with "kubectl"[^]*\.spec\.replicas/);
  expect(await kubectl(cluster, replicas)).toBe("5");
  runHelm(cluster, `${upgrade} --force-conflicts`);
  expect(await kubectl(cluster, replicas)).toBe("2");
}, 60_000);
