import type { Live } from "@quartermaster/runtime";
import { type Deployment, deployments, secrets, services } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { dashboardsConfig } from "../../src/dashboards/dashboards-config.ts";
import { dashboardsDeployment, dashboardsService } from "../../src/dashboards/dashboards-deployment.ts";
import { dashboardsLane } from "../../src/dashboards/dashboards-lane.ts";
import { NO_DASHBOARDS } from "../../src/dashboards/observe-dashboards.ts";
import { decideLane } from "../../src/lane.ts";
import type { SearchCluster } from "../../src/model/search-cluster.ts";
import type { PresentObject } from "../../src/present-object.ts";
import type { AccountFact, Seen } from "../../src/seen.ts";
import { aDashboards, anElasticsearch, aSearchCluster, noSettings } from "../a-search-cluster.ts";
import { aMaterial, aSeen } from "../support/a-seen.ts";

const now = new Date(0);
const account: AccountFact = {
  name: "logs-dashboards-password",
  state: "ours",
  live: undefined,
  login: { username: "quartermaster-dashboards", password: "p" },
  version: "1",
};
const cluster = aSearchCluster({ dashboards: aDashboards() });
const material = aMaterial({ dashboards: account });
const formed = { clusterUuid: "u", version: "2.19.4" };

function ours(kind: PresentObject["kind"], name: string, isTerminating = false): PresentObject {
  return { kind, name, uid: `uid-${name}`, resourceVersion: "7", isTerminating };
}

function seenWith(changes: Partial<Seen>): Seen {
  return aSeen({ cluster, material, status: formed, ...changes });
}

function running(image: string, availableReplicas: number): Live<Deployment> {
  const made = dashboardsDeployment(cluster, { settings: aDashboards(), image, inputsHash: "h" });
  return {
    ...made,
    metadata: { ...made.metadata, generation: 2 },
    status: { observedGeneration: 2, updatedReplicas: 1, availableReplicas },
  } as Live<Deployment>;
}

const everything = [
  ours(deployments, "logs-dashboards"),
  ours(services, "logs-dashboards"),
  ours(secrets, "logs-dashboards-password"),
];

test.for<[string, Seen, string, string, readonly string[]]>([
  ["it is off", seenWith({ cluster: aSearchCluster() }), "notYet", "settled", []],
  [
    "it was switched off",
    seenWith({ cluster: aSearchCluster(), dashboards: { ...NO_DASHBOARDS, present: everything } }),
    "prune",
    "waiting",
    ["prune logs-dashboards", "prune logs-dashboards", "prune logs-dashboards-password"],
  ],
  [
    "it is going",
    seenWith({
      cluster: aSearchCluster(),
      dashboards: { ...NO_DASHBOARDS, present: [ours(deployments, "logs-dashboards", true)] },
    }),
    "prune",
    "waiting",
    [],
  ],
  [
    "its own certificate is not wanted any more",
    seenWith({
      dashboards: { ...NO_DASHBOARDS, present: [...everything, ours(secrets, "logs-dashboards-cert")] },
    }),
    "prune",
    "waiting",
    ["prune logs-dashboards-cert"],
  ],
  ["the cluster has not formed", seenWith({ status: {} }), "notYet", "settled", []],
  [
    "a Secret of the author is missing",
    seenWith({ dashboards: { ...NO_DASHBOARDS, followed: undefined } }),
    "awaitMaterial",
    "waiting",
    [],
  ],
  ["its login is missing", seenWith({ material: aMaterial() }), "awaitMaterial", "waiting", []],
  ["nothing is there", seenWith({}), "keepObjects", "waiting", ["apply", "apply", "apply"]],
  [
    "its pod is not ready",
    seenWith({ dashboards: { ...NO_DASHBOARDS, deployment: running("i", 0) } }),
    "keepObjects",
    "waiting",
    ["apply", "apply", "apply"],
  ],
  [
    "it runs",
    seenWith({ dashboards: { ...NO_DASHBOARDS, deployment: running("i", 1) } }),
    "keepObjects",
    "settled",
    ["apply", "apply", "apply"],
  ],
])("%s", ([, seen, rule, outcome, actions]) => {
  const decision = decideLane(dashboardsLane, seen, now);
  const output = decision.actions.map((action) =>
    action.kind === "prune" ? `prune ${action.name}` : action.kind,
  );
  expect([decision.rule, decision.outcome.kind, output]).toEqual([rule, outcome, actions]);
});

function imageOf(seen: Seen): unknown {
  const made = decideLane(dashboardsLane, seen, now).actions.find(
    (action) => action.kind === "apply" && action.resource === deployments,
  );
  return JSON.stringify(made).match(/"image":"([^"]*)"/)?.[1];
}

test("it is never newer than the engine: the image changes once the engine runs the version", () => {
  const dashboards = { ...NO_DASHBOARDS, deployment: running("old", 1) };
  expect(imageOf(seenWith({ dashboards, status: { ...formed, version: "2.19.3" } }))).toBe("old");
  expect(imageOf(seenWith({ dashboards }))).toBe(aDashboards().image.name);
});

describe("the configuration", () => {
  const read = (of: SearchCluster): Record<string, unknown> =>
    parse(dashboardsConfig(of, of.dashboards ?? aDashboards())) as Record<string, unknown>;

  test("verifies the engine, names no password, and has a key of its own for cookies", () => {
    const config = read(cluster);
    expect(config).toMatchObject({
      "opensearch.hosts": ["https://logs.team.svc:9200"],
      "opensearch.ssl.verificationMode": "full",
      "opensearch.ssl.certificateAuthorities": ["/certificates/engine/ca.crt"],
      "opensearch.username": "${QM_DASHBOARDS_USERNAME}",
      "opensearch.password": "${QM_DASHBOARDS_PASSWORD}",
      "opensearch_security.cookie.password": "${QM_DASHBOARDS_COOKIE}",
    });
  });

  test("of Kibana speaks its words", () => {
    expect(read(anElasticsearch("7.17.28", { dashboards: aDashboards() }))).toMatchObject({
      "elasticsearch.hosts": ["https://logs.team.svc:9200"],
      "elasticsearch.ssl.verificationMode": "full",
      "xpack.security.encryptionKey": "${QM_DASHBOARDS_COOKIE}",
    });
  });

  test("takes an author's settings, but not another engine or trust", () => {
    const config = {
      "opensearch.ssl.verificationMode": "none",
      "opensearch.hosts": "http://evil",
      "csp.strict": "true",
    };
    expect(read(aSearchCluster({ dashboards: aDashboards({ config }) }))).toMatchObject({
      "opensearch.ssl.verificationMode": "full",
      "opensearch.hosts": ["https://logs.team.svc:9200"],
      "csp.strict": "true",
    });
  });
});

describe("the pods", () => {
  const settings = aDashboards({
    isTlsEnabled: true,
    basePath: "/ui",
    pod: { ...noSettings, labels: { team: "a", "opensearch.org/opensearch-cluster": "logs" } },
  });
  const { spec } = dashboardsDeployment(aSearchCluster({ dashboards: settings }), {
    settings,
    image: "i",
    inputsHash: "h",
  });

  test("are found by the Service of Dashboards, and never by the one of the engine", () => {
    const labels = spec.template.metadata?.labels ?? {};
    expect(labels).toEqual({ team: "a", "search.quartermaster.dev/dashboards": "logs" });
    expect(labels).toMatchObject(dashboardsService(cluster, settings).spec?.selector ?? {});
    expect(spec.selector.matchLabels).toEqual({ "search.quartermaster.dev/dashboards": "logs" });
  });

  test("see the CA of the engine and never its key", () => {
    const trust = spec.template.spec.volumes?.find(({ name }) => name === "trust");
    expect(trust?.secret).toMatchObject({ secretName: "logs-http-cert", items: [{ key: "ca.crt" }] });
  });

  test("meet the restricted profile, and are probed at their own path", () => {
    const [container] = spec.template.spec.containers;
    expect(spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(container).toMatchObject({
      securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
      readinessProbe: { httpGet: { path: "/ui/", scheme: "HTTPS" } },
    });
  });

  test("get login and cookie key from Secrets, under names that no entry point turns into arguments", () => {
    const env = spec.template.spec.containers[0]?.env ?? [];
    expect(env.every(({ name, value }) => name.startsWith("QM_") && value === undefined)).toBe(true);
  });
});
