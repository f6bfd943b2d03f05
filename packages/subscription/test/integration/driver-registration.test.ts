import { clusterBundle } from "@quartermaster/api";
import { defineKind } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { conditionOf, messageOf, setUpBench } from "../support/bench.ts";

const csiNodes = defineKind({
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSINode",
  plural: "csinodes",
  scope: "Cluster",
});

test("[first-use/3] a ClusterBundle is ready once kubelet has registered the share driver on a node", async () => {
  await using bench = await setUpBench({ isOperating: false });
  const { namespace } = bench;
  const driver = `${namespace}.example.com`;
  await bench.operate({ driver });
  const name = bench.named("cb");
  await bench.secret("one", ["a.pem"]);
  await bench.clusterBundle(name, { entitlements: [{ name: "one", namespace }] });
  const waiting = await bench.until(
    clusterBundle.kind,
    name,
    (object) => conditionOf(object, "DriverUnavailable") === "True/DriverNotRegistered",
  );
  expect(conditionOf(waiting, "Ready")).toBe("False/DriverNotRegistered");
  expect(messageOf(waiting, "Ready")).toContain(driver);
  expect(messageOf(waiting, "Ready")).toContain("deploy/share-driver.yaml");
  const node = bench.named("node");
  await bench.create(csiNodes, {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: { name: node },
    spec: { drivers: [] },
  });
  const drivers = [{ name: driver, nodeID: node, topologyKeys: [] }];
  await bench.patch(csiNodes, { name: node }, { spec: { drivers } });
  const ready = await bench.until(
    clusterBundle.kind,
    name,
    (object) => conditionOf(object, "Ready")?.startsWith("True") === true,
  );
  expect(conditionOf(ready, "DriverUnavailable")).toBe("False/ShareApiServed");
});
