import { bundle, clusterBundle } from "@quartermaster/api";
import { connect } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { conditionOf, messageOf, setUpBench } from "../support/bench.ts";

const optional = "config/rbac-limited/optional/subscription.yaml";

test("[first-use/9] under limited permissions bundles say in their columns what is missing, and how to grant it", async () => {
  await using bench = await setUpBench({ isLimited: true, isOperating: false });
  const { namespace } = bench;
  await bench.operate({ webhookAccount: { name: "quartermaster-webhook", namespace } });
  const name = bench.named("cb");
  await bench.secret("one", ["a.pem"]);
  const ref = { name: "one", namespace };
  await bench.clusterBundle(name, { entitlements: [ref] });
  await bench.bundle("secret", { entitlements: [{ name: "one" }] });
  await bench.bundle("configmap", { yumRepositories: [{ name: "kube-root-ca.crt" }] });
  const whole = await bench.until(
    clusterBundle.kind,
    name,
    (object) => conditionOf(object, "Ready") === "False/GrantForbidden",
  );
  expect(messageOf(whole, "Ready")).toContain(optional);
  const ofSecret = await bench.until(
    bundle.kind,
    "secret",
    (object) => conditionOf(object, "Ready") === "False/ReferenceForbidden",
  );
  expect(messageOf(ofSecret, "Ready")).toContain(`resourceNames [one] by a Role of namespace ${namespace}`);
  const ofConfigMap = await bench.until(
    bundle.kind,
    "configmap",
    (object) => conditionOf(object, "Ready") === "False/GrantForbidden",
  );
  expect(messageOf(ofConfigMap, "Ready")).toContain(optional);
  // As kubectl prints it.
  await using admin = connect(bench.cluster.admin);
  const table = await admin.transport.send({
    method: "GET",
    path: `/apis/subscription.openshift.io/v1alpha1/clusterbundles/${name}`,
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    verb: "get",
    subject: { kind: "ClusterBundle" },
  });
  expect(JSON.stringify(table)).toContain('"False","GrantForbidden"');
});
