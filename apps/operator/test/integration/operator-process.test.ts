import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import { eventually, joinSharedCluster, makeIdentity, makeNamespace } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { samplesIn } from "../support/metrics-page.ts";
import { Operator, plans } from "../support/operator.ts";

test("an operator on a host installs a plan, shows it in its metrics and ends in peace", async () => {
  using cluster = joinSharedCluster();
  const { api } = cluster;
  await using namespace = await makeNamespace(api, "operator");
  await makeIdentity(api, cluster.admin, {
    namespace: namespace.name,
    name: "installer",
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create", "patch", "delete"] }],
  });
  const location = ["--kubeconfig", cluster.kubeconfigPath, "--watch-namespace", namespace.name];
  await using operator = new Operator([...location, "--metrics-port", "0", "--metrics-host", "127.0.0.1"]);
  const page = `http://127.0.0.1:${await operator.port()}`;
  await eventually(async () => (await fetch(`${page}/readyz`)).ok);
  const path = `${plans}/namespaces/${namespace.name}/installplans/one`;
  await api.apply(path, aPlan(namespace.name));
  await eventually(async (see) => see((await api.send({ path })).body).includes('"phase":"Installed"'));
  const samples = samplesIn(
    await eventually(async () => {
      const text = await (await fetch(`${page}/metrics`)).text();
      return text.includes('quartermaster_install_plans{phase="Installed"} 1') ? text : undefined;
    }),
  );
  const metric = (name: string, label = ""): number | undefined =>
    samples.find((sample) => sample.name === name && Object.values(sample.labels).join("") === label)?.value;
  expect({
    ready: metric("quartermaster_install_plan_resources", "ready"),
    applied: metric("quartermaster_install_plan_writes_total", "apply"),
    stages: metric("quartermaster_install_plan_stage_seconds_count"),
  }).toEqual({ ready: 1, applied: 1, stages: 1 });
  expect(await operator.end("SIGTERM")).toBe(0);
  expect(operator.output).toContain('"message":"operator stops"');
});

test.each([
  { name: "a flag that does not exist", args: ["--loud"], says: /^quartermaster-operator: .*--loud/ },
  {
    name: "a webhook that no domain has",
    args: ["--roles=webhook", "--webhook-service=a/b", "--domains=install-plan"],
    says: /--roles: .*install-plan/,
  },
  {
    name: "a subscription configuration that is not there",
    args: ["--subscription-config=/nowhere.json"],
    says: /--subscription-config: \/nowhere.json: cannot be read/,
  },
  {
    name: "a CA of callers that is not there",
    args: ["--webhook-service=a/b", "--webhook-client-ca-file=/nowhere.crt"],
    says: /--webhook-client-ca-file: \/nowhere.crt cannot be read/,
  },
  { name: "a kubeconfig that is not there", args: ["--kubeconfig", "/nowhere"], says: /\/nowhere/ },
])("$name is reported in one line, and the exit code is 2", async ({ args, says }) => {
  await using operator = new Operator(args);
  expect(await operator.end()).toBe(2);
  expect(operator.output).toMatch(says);
  expect(operator.output.trim().split("\n")).toHaveLength(1);
});

test("a port that is taken is reported by its flag, and the exit code is 2", async () => {
  using cluster = joinSharedCluster();
  await using taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const where = ["--metrics-host", "127.0.0.1", "--metrics-port", String(port)];
  await using operator = new Operator(["--kubeconfig", cluster.kubeconfigPath, ...where]);
  expect(await operator.end()).toBe(2);
  expect(operator.output).toMatch(/^quartermaster-operator: --metrics-host, --metrics-port: .*EADDRINUSE/m);
});

function aPlan(namespace: string): object {
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one" }, data: { a: "1" } };
  return {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { namespace, name: "one" },
    spec: { serviceAccountName: "installer", stages: [{ name: "only", resources: [{ manifest }] }] },
  };
}
