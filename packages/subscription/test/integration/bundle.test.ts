import {
  ALWAYS_INJECT_LABEL,
  bundle,
  type Bundle,
  clusterBundle,
  type ClusterBundle,
} from "@quartermaster/api";
import { secrets } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { conditionOf, messageOf, setUpBench } from "../support/bench.ts";

const labelled = { [ALWAYS_INJECT_LABEL]: "true" };
const conditionIs =
  (type: string, want: string) =>
  (object: Bundle | ClusterBundle): boolean =>
    conditionOf(object, type) === want;

describe("a Bundle", () => {
  test("[subscription-injection/AC-F20] reports a missing Secret and recovers on its own", async () => {
    await using bench = await setUpBench();
    await bench.bundle("b", { entitlements: [{ name: "absent" }] });
    const found = await bench.until(bundle.kind, "b", conditionIs("Invalid", "True/ReferenceNotFound"));
    expect(messageOf(found, "Invalid")).toBe(`Secret ${bench.namespace}/absent does not exist.`);
    expect(conditionOf(found, "Stalled")).toBe("True/ReferenceNotFound");
    await bench.secret("absent", ["a.pem"]);
    const healed = await bench.until(bundle.kind, "b", conditionIs("Ready", "True/Settled"));
    expect(conditionOf(healed, "Invalid")).toBe("False/ReferencesFound");
  });

  test("[subscription-injection/AC-F20] [security/27] an object of another namespace is refused and never read", async () => {
    await using bench = await setUpBench();
    const position = await bench.cluster.audit.position();
    await bench.bundle("b", { entitlements: [{ name: "one", namespace: "kube-system" }] });
    await bench.until(bundle.kind, "b", conditionIs("Invalid", "True/CrossNamespaceReference"));
    const entries = await bench.cluster.audit.since(position, { user: bench.operator });
    expect(
      entries.filter(({ namespace, resource }) => namespace === "kube-system" && resource === "secrets"),
    ).toEqual([]);
    await bench.secret("one", ["a.pem"]);
    await bench.patch(
      bundle.kind,
      { name: "b", namespace: bench.namespace },
      { spec: { entitlements: [{ name: "one", namespace: bench.namespace }] } },
    );
    await bench.until(bundle.kind, "b", conditionIs("Invalid", "False/ReferencesFound"));
  });

  test("[security/39] keys that overlap later are reported, and a prefix resolves it", async () => {
    await using bench = await setUpBench();
    const { namespace } = bench;
    await bench.secret("one", ["x.pem"]);
    await bench.secret("second", ["y.pem"]);
    await bench.bundle("b", { entitlements: [{ name: "one" }, { name: "second" }] });
    await bench.until(bundle.kind, "b", conditionIs("KeyConflict", "False/NoKeyConflict"));
    await bench.patch(secrets, { name: "second", namespace }, { stringData: { "x.pem": "value" } });
    const found = await bench.until(
      bundle.kind,
      "b",
      conditionIs("KeyConflict", "True/EntitlementKeyConflict"),
    );
    expect(messageOf(found, "KeyConflict")).toContain('Key "x.pem"');
    expect(messageOf(found, "KeyConflict")).not.toContain("second");
    const entitlements = [{ name: "one" }, { name: "second", prefix: "second-" }];
    await bench.patch(bundle.kind, { name: "b", namespace }, { spec: { entitlements } });
    await bench.until(bundle.kind, "b", conditionIs("KeyConflict", "False/NoKeyConflict"));
  });
});

describe("always-inject bundles", () => {
  test("[subscription-injection/AC-C14] [security/39] both Bundles report a common key until one is changed", async () => {
    await using bench = await setUpBench();
    const { namespace } = bench;
    await bench.secret("one", ["x.pem"]);
    await bench.secret("two", ["x.pem"]);
    await bench.bundle("a", { entitlements: [{ name: "one" }] }, labelled);
    await bench.until(bundle.kind, "a", conditionIs("Ready", "True/Settled"));
    await bench.bundle("b", { entitlements: [{ name: "two" }] }, labelled);
    for (const name of ["a", "b"]) {
      const found = await bench.until(
        bundle.kind,
        name,
        conditionIs("KeyConflict", "True/EntitlementKeyConflict"),
      );
      expect(messageOf(found, "KeyConflict")).toContain('Bundles "a" and "b"');
      expect(conditionOf(found, "Ready")).toBe("True/Settled");
    }
    await bench.patch(
      bundle.kind,
      { name: "b", namespace },
      { metadata: { labels: { [ALWAYS_INJECT_LABEL]: null } } },
    );
    for (const name of ["a", "b"])
      await bench.until(bundle.kind, name, conditionIs("KeyConflict", "False/NoKeyConflict"));
  });

  test("[subscription-injection/AC-C14] both ClusterBundles report a common key, and one Secret in both is none", async () => {
    await using bench = await setUpBench();
    const { namespace, client } = bench;
    const [a, b, c] = [bench.named("a"), bench.named("b"), bench.named("c")];
    const key = `${namespace}.pem`;
    for (const name of ["one", "two"]) await bench.secret(name, [key]);
    const spec = (name: string): object => ({ entitlements: [{ name, namespace }] });
    await bench.clusterBundle(a, spec("one"), labelled);
    await bench.clusterBundle(c, spec("one"), labelled);
    for (const name of [a, c])
      await bench.until(clusterBundle.kind, name, conditionIs("KeyConflict", "False/NoKeyConflict"));
    await bench.clusterBundle(b, spec("two"), labelled);
    for (const name of [a, b, c]) {
      const found = await bench.until(
        clusterBundle.kind,
        name,
        conditionIs("KeyConflict", "True/EntitlementKeyConflict"),
      );
      expect(messageOf(found, "KeyConflict")).toContain(`Key "${key}" is in ClusterBundles`);
    }
    await client.delete(clusterBundle.kind, { name: b });
    for (const name of [a, c])
      await bench.until(clusterBundle.kind, name, conditionIs("KeyConflict", "False/NoKeyConflict"));
  });
});
