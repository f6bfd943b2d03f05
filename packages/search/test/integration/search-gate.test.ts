import { openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import { namespaces, pods, secrets, services, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { aCluster, aPool, conditionOf, isReady, messageOf, setUpSearch } from "../support/search-bench.ts";

describe("what keeps a cluster from being made", () => {
  test("[search/SC-11] [security/73] a second cluster whose names are taken is told so, and the first is untouched", async () => {
    await using bench = await setUpSearch();
    await bench.apply(aCluster("a-b", { pools: [aPool("c", 1)] }));
    await bench.until("a-b", isReady);
    const before = await bench.client.get(statefulSets, { namespace: bench.namespace, name: "a-b-c" });
    await bench.apply(aCluster("a", { pools: [aPool("b-c", 1)] }));
    const second = await bench.until("a", (found) => conditionOf(found, "Stalled") === "True/NameClash");
    expect(messageOf(second)).toContain("StatefulSet a-b-c");
    const after = await bench.client.get(statefulSets, { namespace: bench.namespace, name: "a-b-c" });
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(await bench.client.find(services, { namespace: bench.namespace, name: "a" })).toBeUndefined();
  });

  test("a Service of another client under our name is left alone", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const theirs = await client.create(services, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "logs", namespace },
      spec: { ports: [{ name: "web", port: 80 }], selector: { app: "web" } },
    });
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    const found = await bench.until("logs", (each) => messageOf(each).includes("Service logs exists"));
    expect(conditionOf(found, "Ready")).toBe("False/NameClash");
    const after = await client.get(services, { namespace, name: "logs" });
    expect(after.metadata.resourceVersion).toBe(theirs.metadata.resourceVersion);
  });

  test("[search/SC-33] [security/74] a certificate that a tenant made in advance is never used", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "logs-http-cert", namespace },
      stringData: { "tls.crt": "theirs", "tls.key": "theirs", "ca.crt": "theirs" },
    });
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    const found = await bench.until(
      "logs",
      (each) => each.status?.blockers?.some(({ reason }) => reason === "SecretConflict") === true,
    );
    expect(conditionOf(found, "CertificatesValid")).toBe("False/SecretConflict");
    expect(await client.find(statefulSets, { namespace, name: "logs-nodes" })).toBeUndefined();
    await client.delete(secrets, { namespace, name: "logs-http-cert" });
    await bench.until("logs", isReady);
  });

  test("[search/SC-09] [security/79] everything that is wrong is reported together, with place and remedy; nothing is made", async () => {
    await using bench = await setUpSearch();
    await bench.apply(
      aCluster("logs", {
        general: { additionalConfig: { "cluster.name": "mine" }, pluginsList: ["http://evil.example/x.zip"] },
        pools: [aPool("nodes", 1, { roles: ["cluster_manager", "storage"], jvm: "-XX:OnError=reboot" })],
      }),
    );
    const found = await bench.until(
      "logs",
      (each) => conditionOf(each, "Stalled")?.startsWith("True/") === true,
    );
    const message = messageOf(found);
    for (const part of ["cluster.name", "pluginsList[0]", "roles[1]", "jvm"]) expect(message).toContain(part);
    expect(await bench.client.find(services, { namespace: bench.namespace, name: "logs" })).toBeUndefined();
    await expect(
      bench.apply(
        aCluster("a-name-that-is-far-too-long-for-the-pods-of-a-cluster", { pools: [aPool("nodes", 1)] }),
      ),
    ).rejects.toThrow(/52 characters/);
  });

  test("[search/SC-10] an invalid affinity is named with its path, and other lanes continue", async () => {
    await using bench = await setUpSearch();
    const affinity = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
    };
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1, { affinity })] }));
    const found = await bench.until(
      "logs",
      (each) => conditionOf(each, "Ready") === "False/InvalidPodTemplate",
    );
    expect(messageOf(found)).toContain("nodeSelectorTerms");
    expect(await bench.client.find(services, { namespace: bench.namespace, name: "logs" })).toBeDefined();
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
  });

  test("[security/72] where the namespace enforces restricted, ours are admitted; what requests more gets no pod, and a condition says where to look", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await client.patch(
      namespaces,
      { name: namespace },
      { patch: { kind: "merge", body: { metadata: { labels } } } },
    );
    const host = { name: "host", path: "/host", hostPath: { path: "/" } };
    await bench.apply(
      aCluster("evil", {
        general: {
          serviceAccount: "default",
          securityContext: { privileged: true, allowPrivilegeEscalation: true },
          additionalVolumes: [host],
        },
        pools: [aPool("nodes", 1)],
      }),
    );
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
    const refused = await bench.until("evil", (found) =>
      messageOf(found).includes("StatefulSet evil-nodes has no pod"),
    );
    expect(conditionOf(refused, "Ready")).toBe("False/Bootstrapping");
    const names = (await Array.fromAsync(client.list(pods, { namespace }))).map(
      ({ metadata }) => metadata.name,
    );
    expect(names).toEqual(["logs-nodes-0"]);
  });

  test("[search/SC-06] one name in both groups: the new one acts, the old one writes nothing and deletes nothing", async () => {
    await using bench = await setUpSearch();
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
    await bench.apply({
      ...aCluster("logs", { pools: [aPool("nodes", 2)] }),
      apiVersion: "opensearch.opster.io/v1",
    });
    await bench.until(
      "logs",
      (each) => conditionOf(each, "Stalled") === "True/SupersededByNewGroup",
      opsterOpenSearchCluster.kind,
    );
    await bench.client.delete(opsterOpenSearchCluster.kind, { namespace: bench.namespace, name: "logs" });
    await eventually(
      async () =>
        (await bench.client.find(opsterOpenSearchCluster.kind, {
          namespace: bench.namespace,
          name: "logs",
        })) === undefined,
    );
    const set = await bench.client.get(statefulSets, { namespace: bench.namespace, name: "logs-nodes" });
    expect(set.spec.replicas).toBe(1);
    expect(isReady(await bench.get("logs", openSearchCluster.kind))).toBe(true);
  });

  test("[search/SC-02] explicit nulls are pruned", async () => {
    await using bench = await setUpSearch();
    await bench.create(
      aCluster("logs", {
        pools: [aPool("nodes", 1, { nodeSelector: null })],
        spec: { security: { config: null } },
      }),
    );
    const ready = await bench.until("logs", isReady);
    expect(ready.spec.nodePools[0]).not.toHaveProperty("nodeSelector");
  });
});
