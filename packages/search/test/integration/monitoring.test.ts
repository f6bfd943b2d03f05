import { setTimeout as sleep } from "node:timers/promises";

import { elasticsearchCluster } from "@quartermaster/api";
import { type Client, type Kind, type KubeObject, type Live, classify } from "@quartermaster/runtime";
import {
  configMaps,
  customResourceDefinitions,
  deployments,
  networkPolicies,
  pods,
  secrets,
  services,
} from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { type MonitoringKind, monitoringKinds } from "../../src/monitoring/monitoring-kinds.ts";
import {
  aCluster,
  anElasticsearch,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const pools = [aPool("nodes", 1)];

function monitored(monitoring: object): object {
  return aCluster("logs", { pools, general: { monitoring } });
}

/** The definition of a kind of another operator: nothing of it is checked. */
async function serve(client: Client, name: MonitoringKind): Promise<AsyncDisposable> {
  const { group, version, kind, plural, scope } = monitoringKinds[name];
  const ref = { name: `${plural}.${group}` };
  await client.create(customResourceDefinitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: ref,
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  } as KubeObject);
  return {
    [Symbol.asyncDispose]: async () => {
      try {
        await client.delete(customResourceDefinitions, ref);
      } catch (error) {
        if (classify(error) !== "notFound") throw error;
      }
    },
  };
}

async function nodeUids({ client, namespace }: SearchBench): Promise<readonly string[]> {
  const all = await Array.fromAsync(client.list(pods, { namespace }));
  return all
    .filter(({ metadata }) => metadata.name.startsWith("logs-nodes-"))
    .map(({ metadata }) => metadata.uid);
}

/** Names of everything in the namespace that monitors a cluster. */
async function monitoringIn({ client, namespace }: SearchBench): Promise<readonly string[]> {
  const kinds: readonly Kind[] = [deployments, services, configMaps, secrets, networkPolicies];
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const all = await Array.fromAsync(client.list(kind, { namespace }));
      return all
        .filter(({ metadata }) =>
          /-(?:exporter|alerts|monitoring|prometheus|alertmanager|grafana)/.test(metadata.name),
        )
        .map(({ metadata }) => `${kind.kind} ${metadata.name}`);
    }),
  );
  return found.flat().toSorted();
}

async function secretIn({ client, namespace }: SearchBench, name: string, key: string): Promise<string> {
  const { data } = await client.get(secrets, { namespace, name });
  return Buffer.from(data?.[key] ?? "", "base64").toString();
}

async function untilThere(bench: SearchBench, kind: Kind, name: string): Promise<Live> {
  const { client, namespace } = bench;
  return await eventually(
    async () => {
      try {
        return await client.find(kind, { namespace, name });
      } catch (error) {
        // The server may not serve a new kind on its first day.
        if (classify(error) !== "notFound") throw error;
        return undefined;
      }
    },
    { withinMs: 60_000 },
  );
}

async function untilDeleted({ client, namespace }: SearchBench, kind: Kind, name: string): Promise<void> {
  await eventually(async () => (await client.find(kind, { namespace, name })) === undefined, {
    withinMs: 60_000,
  });
}

/** Ready, and the lane is done with the objects that the status names. */
function isMonitored(found: Live<ClusterObject>): boolean {
  return isReady(found) && found.status?.monitoring?.exporter === "Ready";
}

describe("monitoring", () => {
  test("[search/SC-85] Ready without prometheus-operator; its objects are made once it is served, and files again when that ends", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(monitored({ enable: true, stack: { mode: "None" } }));
    const before = await bench.until("logs", isMonitored);
    const uids = await nodeUids(bench);
    expect(conditionOf(before, "MonitoringReady")).toBe("True/AsDeclared");
    expect(before.status?.monitoring?.absentApis).toContain("monitoring.coreos.com/v1 ServiceMonitor");
    const rules = await client.get(configMaps, { namespace, name: "logs-alerts" });
    expect(rules.data?.["alerts.json"]).toContain(`namespace=\\"${namespace}\\"`);
    const dashboards = await client.get(configMaps, { namespace, name: "logs-grafana-dashboards" });
    expect(dashboards.metadata.labels?.["grafana_dashboard"]).toBe("1");
    expect(Object.keys(dashboards.data ?? {})).toHaveLength(4);
    {
      await using served = new AsyncDisposableStack();
      for (const kind of ["ServiceMonitor", "PrometheusRule"] as const) served.use(await serve(client, kind));
      const monitor = await untilThere(bench, monitoringKinds.ServiceMonitor, "logs-monitor");
      const exporter = await client.get(services, { namespace, name: "logs-exporter" });
      expect(exporter.metadata.labels).toMatchObject(
        (monitor as unknown as { spec: { selector: { matchLabels: object } } }).spec.selector.matchLabels,
      );
      const [owner] = monitor.metadata.ownerReferences ?? [];
      expect(owner?.uid).toBe(before.metadata.uid);
      await untilThere(bench, monitoringKinds.PrometheusRule, "logs-alerts");
      await untilDeleted(bench, configMaps, "logs-alerts");
      await bench.until("logs", isMonitored);
    }
    await untilThere(bench, configMaps, "logs-alerts");
    await bench.until("logs", isMonitored);
    expect(await nodeUids(bench)).toEqual(uids);
  });

  test("[first-use/20] kinds that are not installed are not requested while nothing happens, and found when they are", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(monitored({ enable: true, stack: { mode: "None" } }));
    await bench.until("logs", isMonitored);
    // The first response of each kind, and one more before it is known which definitions there are.
    await sleep(3_000);
    const position = await bench.cluster.audit.position();
    await sleep(15_000);
    const requested = await bench.cluster.audit.since(position);
    const idle = requested.filter(
      ({ path, user }) => path.includes("/apis/monitoring.coreos.com/") && user.includes(namespace),
    );
    expect(idle).toEqual([]);
    await using served = new AsyncDisposableStack();
    served.use(await serve(client, "PrometheusRule"));
    await untilThere(bench, monitoringKinds.PrometheusRule, "logs-alerts");
  });

  test("[security/110] a ServiceMonitor ends with the namespace and the cluster, after every rule of the author", async () => {
    await using bench = await setUpSearch();
    await using served = new AsyncDisposableStack();
    served.use(await serve(bench.client, "ServiceMonitor"));
    const dropping = [
      { action: "labeldrop", regex: "namespace|cluster" },
      { action: "LabelKeep", regex: "__.*|job" },
    ];
    const own = [{ targetLabel: "namespace", replacement: "victim" }];
    await bench.apply(monitored({ enable: true, stack: { mode: "None" }, relabelings: own }));
    const refused = await bench.until(
      "logs",
      (found) => conditionOf(found, "Stalled") === "True/InvalidSpec",
    );
    expect(messageOf(refused)).toContain("relabelings[0].targetLabel");
    const rules = { relabelings: dropping, metricRelabelings: dropping };
    await bench.apply(monitored({ enable: true, stack: { mode: "None" }, ...rules }));
    const monitor = await untilThere(bench, monitoringKinds.ServiceMonitor, "logs-monitor");
    const ours = { action: "replace", targetLabel: "namespace", replacement: bench.namespace };
    const named = { action: "replace", targetLabel: "cluster", replacement: "logs" };
    expect(monitor).toMatchObject({
      spec: {
        endpoints: [{ relabelings: [...dropping, ours], metricRelabelings: [...dropping, ours, named] }],
      },
    });
  });

  test("[search/SC-120] without a word about the stack: one of the cluster's own, until prometheus-operator is served", async () => {
    await using bench = await setUpSearch();
    const { client } = bench;
    await bench.apply(monitored({ enable: true }));
    const own = await bench.until("logs", isMonitored);
    expect(own.status?.monitoring?.stack).toBe("Standalone");
    expect(await monitoringIn(bench)).toEqual(expect.arrayContaining(stackDeployments));
    {
      await using served = new AsyncDisposableStack();
      served.use(await serve(client, "ServiceMonitor"));
      await untilThere(bench, monitoringKinds.ServiceMonitor, "logs-monitor");
      for (const part of ["prometheus", "alertmanager", "grafana"])
        await untilDeleted(bench, deployments, `logs-${part}`);
      await untilDeleted(bench, secrets, "logs-grafana-password");
      const theirs = await bench.until("logs", isMonitored);
      expect(theirs.status?.monitoring?.stack).toBe("None");
    }
    await bench.apply(monitored({ enable: false }));
    await bench.until("logs", isReady);
    expect(await monitoringIn(bench)).toEqual([]);
  });

  test("[search/SC-88] a stack of its own comes with our content and goes without rest; no node restarts", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(aCluster("logs", { pools }));
    await bench.until("logs", isReady);
    const uids = await nodeUids(bench);
    await bench.apply(monitored({ enable: true, stack: { mode: "Standalone" } }));
    const ready = await bench.until("logs", isMonitored);
    expect(ready.status?.monitoring?.objects).toEqual(expect.arrayContaining(stackDeployments));
    for (const part of ["prometheus", "alertmanager", "grafana"]) {
      const { status } = await client.get(deployments, { namespace, name: `logs-${part}` });
      expect(status?.availableReplicas).toBe(1);
    }
    const config = await client.get(configMaps, { namespace, name: "logs-prometheus" });
    expect(config.data?.["prometheus.json"]).toContain(`logs-exporter.${namespace}.svc:9114`);
    expect(await secretIn(bench, "logs-grafana-password", "password")).toMatch(/^[\w-]{32}$/);
    const user = "internalusers/quartermaster-monitoring";
    expect(await secretIn(bench, "logs-security-applied", "applied")).toContain(user);

    await bench.apply(monitored({ enable: true, stack: { mode: "None" } }));
    await eventually(
      async () => !(await monitoringIn(bench)).some((each) => /prometheus|alertmanager/.test(each)),
    );
    await bench.until("logs", isMonitored);
    expect(await monitoringIn(bench)).toContain("Deployment logs-exporter");

    await bench.apply(aCluster("logs", { pools }));
    await bench.until("logs", (found) => isReady(found) && found.status?.monitoring === undefined);
    expect(await monitoringIn(bench)).toEqual([]);
    expect(await secretIn(bench, "logs-security-applied", "applied")).not.toContain(user);
    expect(await nodeUids(bench)).toEqual(uids);
  });

  test("a new operator writes nothing to a monitored cluster", async () => {
    await using bench = await setUpSearch();
    await bench.apply(monitored({ enable: true, stack: { mode: "Standalone" } }));
    await bench.until("logs", isMonitored);
    await bench.stop();
    const before = bench.engines.calls.length;
    const position = await bench.cluster.audit.position();
    await bench.operate();
    await eventually(() => bench.engines.calls.length > before || undefined);
    await sleep(3_000);
    expect((await bench.writes(position)).map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([]);
  });

  test("the exporter of Elasticsearch logs in with a built-in role that cannot write", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const general = { monitoring: { enable: true, stack: { mode: "None" } } };
    await bench.apply(anElasticsearch("docs", { pools, general }));
    await bench.until("docs", isMonitored, elasticsearchCluster.kind);
    const { data } = await client.get(secrets, { namespace, name: "docs-file-realm" });
    expect(Buffer.from(data?.["users_roles"] ?? "", "base64").toString()).toBe(
      "remote_monitoring_collector:quartermaster-monitoring\nsuperuser:admin,quartermaster-operator\n",
    );
  });

  test("a Secret with receivers that is not there is named, and the nodes do not wait for it", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const stack = { mode: "Standalone", receivers: { name: "oncall" } };
    await bench.apply(monitored({ enable: true, stack }));
    const waiting = await bench.until("logs", (found) => messageOf(found).includes("Secret oncall"));
    expect(conditionOf(waiting, "MonitoringReady")).toBe("False/AwaitingMaterial");
    expect(conditionOf(waiting, "Available")).toBe("True/Serving");
    await client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "oncall", namespace },
      stringData: { "alertmanager.yaml": "route: { receiver: pager }\nreceivers: [{ name: pager }]\n" },
    });
    await bench.until("logs", isMonitored);
    const { spec } = await client.get(deployments, { namespace, name: "logs-alertmanager" });
    expect(JSON.stringify(spec.template.spec.volumes)).toContain('"secretName":"oncall"');
  });
});

const stackDeployments = ["exporter", "prometheus", "alertmanager", "grafana"].map(
  (part) => `Deployment logs-${part}`,
);
