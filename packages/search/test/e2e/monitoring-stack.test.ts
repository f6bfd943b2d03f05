import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { openSearchCluster } from "@quartermaster/api";
import {
  configMaps,
  deployments,
  namespaces,
  pods,
  secrets,
  services,
  statefulSets,
} from "@quartermaster/runtime/kinds";
import { eventually, hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

import { stackImages } from "../../src/model/read-monitoring.ts";
import { ruleFile } from "../../src/monitoring/alert-rules.ts";
import { panelQueries, panelsThatAreEmpty, panelsWithoutData } from "../support/panel-queries.ts";
import { alertReceiver, receiversOf } from "./alert-receiver.ts";
import { queryService, type ServiceDoor, shownBy } from "./ask-service.ts";
import { leanJvm } from "./engine-pods.ts";
import { writeExporterImage } from "./exporter-image.ts";
import { isReady, type RealSearch, startRealSearch } from "./real-search.ts";
import { provideStackImages } from "./stack-images.ts";

const minute = 60_000;
const namespace = "team";
const name = "logs";
const pool = (component: string, replicas: number, roles: readonly string[]): object => ({
  component,
  replicas,
  roles,
  diskSize: "1Gi",
  jvm: leanJvm,
});

/** Six by the figures of three nodes, three by its own limit; nothing is done. */
const autoscaling = {
  mode: "Recommend",
  minReplicas: 2,
  maxReplicas: 3,
  metrics: [{ type: "Prometheus", query: "max(opensearch_cluster_nodes_number)", target: 1 }],
  scaleUp: { stabilizationSeconds: 10 },
};

/** Nothing is said about the stack but that there is no Grafana, whose image cannot be had, and who gets alerts. */
function declared(monitoring?: object, annotations: Readonly<Record<string, string>> = {}): object {
  return {
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name, namespace, annotations },
    spec: {
      general: {
        serviceName: name,
        version: "2.19.4",
        ...(monitoring === undefined ? {} : { monitoring }),
      },
      nodePools: [
        pool("managers", 1, ["cluster_manager"]),
        { ...pool("data", 2, ["data", "ingest"]), ...(monitoring === undefined ? {} : { autoscaling }) },
      ],
    },
  };
}
const monitoring = {
  enable: true,
  scrapeInterval: "5s",
  stack: { grafana: { enable: false }, receivers: { name: "oncall" } },
};

const alertsSchema = z.object({
  data: z.object({
    alerts: z.array(z.object({ labels: z.record(z.string(), z.string()), state: z.string() })),
  }),
});
const sentSchema = z.array(
  z.object({ labels: z.record(z.string(), z.string()), receivers: z.array(z.object({ name: z.string() })) }),
);

/** What runs of the stack here. */
const served = ["prometheus", "alertmanager"] as const;

/** Only in a campaign: it takes an engine cluster of its own, and minutes. */
const isRequested = hasRealNodes() && process.env["QM_CAMPAIGN"] === "1";

describe.runIf(isRequested)("a standalone stack on real nodes", () => {
  let real: RealSearch;

  beforeAll(async () => {
    using exporter = writeExporterImage();
    real = await startRealSearch({
      images: [exporter.directory, ...(await provideStackImages())],
      kind: openSearchCluster.kind,
      namespace,
      name,
      nodes: 2,
      engine: "opensearch",
      version: "2.19.4",
    });
  }, 15 * minute);

  afterAll(async () => {
    await real?.[Symbol.asyncDispose]();
  });

  async function certificate(key: "ca.crt" | "tls.crt"): Promise<string> {
    const { data } = await real.client.get(secrets, { namespace, name: `${name}-monitoring-cert` });
    return Buffer.from(data?.[key] ?? "", "base64").toString();
  }

  /** Prometheus or Alertmanager, verified as a client in the cluster would. */
  async function doorOf(of: (typeof served)[number]): Promise<ServiceDoor> {
    return {
      dial: async () => await real.dialService(`${name}-${of}`, of === "prometheus" ? 9090 : 9093),
      tls: { ca: await certificate("ca.crt"), servername: `${name}-${of}.${namespace}.svc` },
    };
  }

  async function part(of: (typeof served)[number]): Promise<(path: string) => Promise<string>> {
    const door = await doorOf(of);
    return async (path) => (await queryService(door, path)).body;
  }

  async function stackPods(): Promise<readonly string[]> {
    const list = await Array.fromAsync(real.client.list(pods, { namespace }));
    const own = list.filter(({ metadata }) => /-(?:prometheus|alertmanager)-/.test(metadata.name));
    return own.map(({ metadata }) => metadata.uid).toSorted();
  }

  test(
    "[search/SC-88] Prometheus and Alertmanager run as pods under the restricted profile, speak verified TLS and read the real exporter",
    async () => {
      const receiver = alertReceiver(namespace, "pager");
      await real.client.create(pods, receiver.pod);
      await real.client.create(services, receiver.service);
      await real.client.create(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "oncall", namespace },
        stringData: { "alertmanager.yaml": receiversOf(namespace, "pager") },
      });
      await real.apply(declared(monitoring));
      const { status } = await real.until((each) => isReady(each) && each.status?.monitoring !== undefined);
      expect(status?.monitoring).toMatchObject({ exporter: "Ready", stack: "Standalone" });
      const { metadata } = await real.client.get(namespaces, { name: namespace });
      expect(metadata.labels?.["pod-security.kubernetes.io/enforce"]).toBe("restricted");
      const list = await Array.fromAsync(real.client.list(pods, { namespace }));
      for (const of of served) {
        const own = list.filter((each) => each.metadata.name.startsWith(`${name}-${of}-`));
        expect(own.map(({ spec }) => spec?.containers[0])).toMatchObject([
          { image: stackImages[of], securityContext: { readOnlyRootFilesystem: true } },
        ]);
        expect(own[0]?.status?.containerStatuses?.[0]).toMatchObject({ ready: true, restartCount: 0 });
      }

      const prometheus = await part("prometheus");
      await eventually(async (see) => see(await prometheus("/api/v1/targets")).includes('"health":"up"'), {
        withinMs: minute,
        everyMs: 1000,
      });
      expect(await prometheus("/api/v1/alertmanagers")).toContain(
        `https://${name}-alertmanager.${namespace}.svc:9093`,
      );
      await eventually(
        async (see) => see(await prometheus("/api/v1/rules")).split('"health":"ok"').length === 19,
        { withinMs: 2 * minute, everyMs: 1000 },
      );
      const plain = await queryService(
        { dial: async () => await real.dialService(`${name}-prometheus`, 9090) },
        "/-/ready",
      );
      expect(plain.status).toBe(400);
      const wrong: ServiceDoor = {
        dial: async () => await real.dialService(`${name}-alertmanager`, 9093),
        tls: { ca: "", servername: `${name}-alertmanager.${namespace}.svc` },
      };
      await expect(queryService(wrong, "/-/ready")).rejects.toThrow(/certificate/);
    },
    10 * minute,
  );

  test(
    "[search/SC-87] every query of the four dashboards returns data, but for those that are written down with their reason",
    async () => {
      const prometheus = await part("prometheus");
      const load = await real.load("orders", { number_of_shards: 2, number_of_replicas: 1 });
      const queries = panelQueries({ namespace, cluster: name });
      const empty = await eventually(
        async (see) => {
          await real.request("/orders/_search?q=*");
          const found = see(await panelsThatAreEmpty(queries, prometheus));
          return found.length <= Object.keys(panelsWithoutData).length ? found : undefined;
        },
        { withinMs: 3 * minute, everyMs: 3_000 },
      );
      expect(empty).toEqual(Object.keys(panelsWithoutData).toSorted());
      process.stdout.write(`${String(queries.length)} queries, ${String(empty.length)} without data\n`);
      expect(await load.end()).toMatchObject({ failed: [], lost: [] });
    },
    6 * minute,
  );

  test(
    "[search/SC-90] the operator asks the Prometheus in its pod for a pool's query, and recommends what follows from the response",
    async () => {
      const { status } = await real.until(
        (found) => found.status?.autoscaling?.pools?.[0]?.recommendation === 3,
      );
      expect(status?.autoscaling?.pools?.[0]).toMatchObject({
        mode: "Recommend",
        current: 2,
        metrics: [{ type: "Prometheus", target: 1, recommendation: 6 }],
      });
      const active = status?.conditions?.find(({ type }) => type === "AutoscalingActive");
      expect(active).toMatchObject({ status: "True", reason: "SamplesKnown" });
    },
    6 * minute,
  );

  /** The same rules with a shorter wait, in the same pod. The operator is away meanwhile: it would put its own back, and does so at the end. */
  async function shortenWaits(): Promise<void> {
    const { groups } = ruleFile({ namespace, cluster: name });
    const short = {
      groups: groups.map((group) => ({
        ...group,
        rules: group.rules.map((rule) => ({ ...rule, for: "20s" })),
      })),
    };
    const merge = async (of: string, data: Readonly<Record<string, string>>): Promise<void> => {
      await real.client.patch(
        configMaps,
        { namespace, name: of },
        { patch: { kind: "merge", body: { data } } },
      );
    };
    await merge(`${name}-alerts`, { "alerts.json": JSON.stringify(short) });
    const { data } = await real.client.get(configMaps, { namespace, name: `${name}-prometheus` });
    const config = JSON.parse(data?.["prometheus.json"] ?? "") as { global: object };
    const quick = { ...config, global: { ...config.global, evaluation_interval: "5s" } };
    await merge(`${name}-prometheus`, { "prometheus.json": JSON.stringify(quick) });
    const list = await Array.fromAsync(real.client.list(pods, { namespace }));
    const own = list.find((each) => each.metadata.name.startsWith(`${name}-prometheus-`));
    await real.client.delete(pods, { namespace, name: own?.metadata.name ?? "" });
  }

  /** `qm search dashboards`, through the API server. Run beside this process, which is where the operator lives. */
  async function drawPage(): Promise<void> {
    const directory = mkdtempSync(join(tmpdir(), "dashboard-"));
    const file = join(directory, "overview.html");
    const program = join(import.meta.dirname, "../../../../apps/cli/src/main.ts");
    const text = ["search", "dashboards", name, "-n", namespace, "--since", "30m", "-o", file];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [program, ...text, "--kubeconfig", real.kubeconfigPath],
      { encoding: "utf8" },
    );
    expect(stdout).toContain("8 of 9 panels have data");
    expect(readFileSync(file, "utf8")).toContain(`<h1>${namespace}/${name}: overview</h1>`);
    rmSync(directory, { recursive: true });
  }

  /** With `QM_RECORD`, a file: writes what Prometheus answered to the overview, for tests that draw it without a cluster. */
  async function record(request: (path: string) => Promise<string>): Promise<void> {
    const file = process.env["QM_RECORD"];
    if (file === undefined) return;
    const to = Math.floor(Date.now() / 1000);
    const responses: Record<string, unknown> = {};
    for (const { panel, expr } of panelQueries({ namespace, cluster: name })) {
      if (!panel.startsWith("overview: ")) continue;
      const query = encodeURIComponent(expr);
      const path = `/api/v1/query_range?query=${query}&start=${String(to - 600)}&end=${String(to)}&step=10`;
      responses[expr] = JSON.parse(await request(path));
    }
    writeFileSync(file, JSON.stringify({ toSeconds: to, responses }));
  }

  async function scaleData(replicas: number): Promise<void> {
    const ref = { namespace, name: `${name}-data` };
    await real.client.patch(statefulSets, ref, { patch: { kind: "merge", body: { spec: { replicas } } } });
  }

  test(
    "[search/SC-87] a data node goes away: NodeMissing is pending, fires, reaches the receiver of the author's Secret, and is resolved once the node is back",
    async () => {
      await real.stop();
      await shortenWaits();
      const [prometheus, alertmanager] = [await part("prometheus"), await part("alertmanager")];
      const timeout = { withinMs: 4 * minute, everyMs: 500 };
      const responded = async (request: (path: string) => Promise<string>, path: string): Promise<string> => {
        try {
          return await request(path);
        } catch (error) {
          // Its pod is on its way.
          return String(error);
        }
      };
      await eventually(async (see) => {
        const output = see(await responded(prometheus, "/api/v1/query?query=opensearch_cluster_status"));
        const rules = await responded(prometheus, "/api/v1/rules");
        return output.includes(`"cluster":"${name}"`) && rules.split('"duration":20').length === 19;
      }, timeout);
      const times: Record<string, number> = {};
      let lastMs = performance.now();
      const lap = (what: string): void => {
        times[what] = Math.round((performance.now() - lastMs) / 100) / 10;
        lastMs = performance.now();
      };
      const stateOf = async (): Promise<string | undefined> => {
        const { data } = alertsSchema.parse(JSON.parse(await prometheus("/api/v1/alerts")));
        return data.alerts.find(({ labels }) => labels["alertname"] === "NodeMissing")?.state;
      };
      const reported = async (): Promise<string> => {
        const { body } = await queryService(
          { dial: async () => await real.dialService("pager", 8080) },
          "/alerts",
        );
        return body;
      };
      const hasReported = async (status: string): Promise<boolean> =>
        (await reported())
          .split("\n")
          .some(
            (line) => line.includes('"alertname":"NodeMissing"') && line.includes(`"status":"${status}"`),
          );

      await scaleData(1);
      await eventually(async (see) => see(await stateOf()) === "pending", timeout);
      lap("pending");
      await eventually(async (see) => see(await stateOf()) === "firing", timeout);
      lap("firing");
      await eventually(async () => await hasReported("firing"), timeout);
      lap("receiver told");
      const sent = sentSchema.parse(JSON.parse(await alertmanager("/api/v2/alerts")));
      const [missing] = sent.filter(({ labels }) => labels["alertname"] === "NodeMissing");
      expect(missing).toMatchObject({
        labels: { namespace, cluster: name, severity: "warning" },
        receivers: [{ name: "pager" }],
      });
      expect(await hasReported("resolved")).toBe(false);

      await scaleData(2);
      await eventually(async (see) => see(await stateOf()) === undefined, timeout);
      lap("resolved");
      await eventually(async () => await hasReported("resolved"), timeout);
      lap("receiver told of the end");
      process.stdout.write(`NodeMissing, seconds from step to step: ${JSON.stringify(times)}\n`);

      await drawPage();
      await record(prometheus);
      await real.operate(real.operator);
      const wanted = JSON.stringify(ruleFile({ namespace, cluster: name }), undefined, 2);
      await eventually(
        async () =>
          (await real.client.get(configMaps, { namespace, name: `${name}-alerts` })).data?.["alerts.json"] ===
          wanted,
        { withinMs: minute },
      );
      await real.until(isReady);
    },
    15 * minute,
  );

  test(
    "a renewed certificate is served by both, and neither restarts",
    async () => {
      const [before, old] = [await stackPods(), await certificate("tls.crt")];
      await real.apply(declared(monitoring, { "search.quartermaster.dev/renew-certificates": "1" }));
      await real.until(({ status }) => status?.certificates?.renewed === "1");
      const pem = await certificate("tls.crt");
      expect(pem).not.toBe(old);
      const { fingerprint256 } = new X509Certificate(pem);
      for (const of of served) {
        const door = await doorOf(of);
        // kubelet brings the files within 90 s.
        await eventually(async (see) => see(await shownBy(door)) === fingerprint256, {
          withinMs: 3 * minute,
          everyMs: 1000,
        });
      }
      expect(await stackPods()).toEqual(before);
      await real.until(isReady);
    },
    8 * minute,
  );

  test(
    "[search/SC-88] switched off, the stack and its certificate go",
    async () => {
      await real.apply(declared());
      await real.until((each) => isReady(each) && each.status?.monitoring === undefined);
      expect(await Array.fromAsync(real.client.list(deployments, { namespace }))).toEqual([]);
      expect(await real.client.find(secrets, { namespace, name: `${name}-monitoring-cert` })).toBeUndefined();
    },
    4 * minute,
  );
});
