import { elasticsearchCluster, openSearchCluster } from "@quartermaster/api";
import { clusterLicense } from "@quartermaster/api/licensing";
import type { Live } from "@quartermaster/runtime";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { RecordedReconcile } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { observeDashboards } from "../../src/dashboards/observe-dashboards.ts";
import { LicenseAttempts } from "../../src/license/license-attempts.ts";
import { observeLicense } from "../../src/license/observe-license.ts";
import { observeMaterial } from "../../src/material/observe-material.ts";
import type { ClusterObject } from "../../src/model/read-cluster.ts";
import type { SearchCluster } from "../../src/model/search-cluster.ts";
import { observeMonitoring } from "../../src/monitoring/observe-monitoring.ts";
import { observeSecurity } from "../../src/security-content/observe-security.ts";
import {
  aDashboards,
  aMonitoring,
  anElasticsearch,
  aPool,
  aSearchCluster,
  noSettings,
} from "../a-search-cluster.ts";

const system = new VirtualSystem();

/** Follows what a reconcile of the cluster follows; its Kubernetes object is `team/logs`. */
function followedBy(
  cluster: SearchCluster,
  objects: ConstructorParameters<typeof RecordedReconcile>[0] = [],
): readonly string[] {
  const api = new RecordedReconcile(objects);
  const kind = cluster.distribution === "opensearch" ? openSearchCluster.kind : elasticsearchCluster.kind;
  const metadata = { name: cluster.name, namespace: cluster.namespace, uid: cluster.uid };
  const object = api.put(kind, { apiVersion: "", kind: "", metadata }) as Live<ClusterObject>;
  const ctx = api.context(object);
  observeMaterial({ object, cluster, mounted: { transport: [], http: [] } }, ctx);
  observeSecurity({ cluster, ctx, podList: [], engine: { securityIndex: { isKnown: false, why: "" } } });
  observeDashboards(object, cluster, ctx);
  observeMonitoring(object, cluster, ctx);
  observeLicense(object, cluster, { ctx, attempts: new LicenseAttempts(system), nowMs: system.wallMs() });
  return [...api.followed];
}

const tls = aSearchCluster().security.transport;

interface Row {
  readonly name: string;
  readonly cluster: SearchCluster;
  readonly objects?: ConstructorParameters<typeof RecordedReconcile>[0];
  readonly want: readonly string[];
}

const volume = (source: object): never => ({ name: "v", ...source }) as never;
const named = ["a", "b", "c", "d"];
const direct = {
  apiVersion: "",
  kind: "",
  metadata: { name: "logs", namespace: "team" },
  spec: { uid: "u", signatureRef: { name: "signed" } },
};

const rows: readonly Row[] = [
  ...[1, 2, 3, 4].map((count): Row => ({
    name: `${String(count)} Secrets of the keystore`,
    cluster: aSearchCluster({
      keystore: named.slice(0, count).map((secretName) => ({ secretName, keyMappings: {} })) as never,
    }),
    want: named.slice(0, count).map((name) => `Secret team/${name}`),
  })),
  {
    name: "certificates of the user",
    cluster: aSearchCluster({
      security: {
        ...aSearchCluster().security,
        transport: { ...tls, isGenerated: false, secret: "transport", caSecret: "ca" },
        http: { ...tls, isGenerated: false, secret: "http" },
      },
    }),
    want: ["Secret team/transport", "Secret team/ca", "Secret team/http"],
  },
  {
    name: "the account of the administrator, and files with users",
    cluster: aSearchCluster({
      security: {
        ...aSearchCluster().security,
        adminCredentialsSecret: "admin",
        securityConfigSecret: "files",
      },
    }),
    want: ["Secret team/admin", "Secret team/files"],
  },
  {
    name: "pull secrets and volumes of pods, of two pools and Dashboards",
    cluster: aSearchCluster({
      image: { name: "i", pullSecrets: ["pull"] },
      pod: { ...noSettings, volumes: [volume({ secret: { secretName: "one" } })] },
      pools: [
        aPool({ name: "x", pod: { ...noSettings, volumes: [volume({ configMap: { name: "two" } })] } }),
        aPool({
          name: "y",
          pod: {
            ...noSettings,
            volumes: [
              volume({
                projected: { sources: [{ secret: { name: "three" } }, { configMap: { name: "four" } }] },
              }),
            ],
          },
        }),
      ],
      dashboards: aDashboards({
        image: { name: "d", pullSecrets: ["pull2"] },
        pod: { ...noSettings, volumes: [volume({ secret: { secretName: "five" } })] },
      }),
    }),
    want: [
      "Secret team/pull",
      "Secret team/one",
      "ConfigMap team/two",
      "Secret team/three",
      "ConfigMap team/four",
      "Secret team/pull2",
      "Secret team/five",
    ],
  },
  {
    name: "the account and certificate of Dashboards",
    cluster: aSearchCluster({
      dashboards: aDashboards({ credentialsSecret: "login", isTlsEnabled: true, tlsSecret: "cert" }),
    }),
    want: ["Secret team/login", "Secret team/cert"],
  },
  {
    name: "the account and receivers of monitoring",
    cluster: aSearchCluster({
      monitoring: aMonitoring({
        userSecret: "reader",
        stack: { ...aMonitoring().stack, mode: "Standalone", receiversSecret: "alerts" },
      }),
    }),
    want: ["Secret team/reader", "Secret team/alerts"],
  },
  {
    name: "the license of the cluster, that of the pool, the association, and the signature",
    cluster: anElasticsearch("8.19.0"),
    objects: [{ kind: clusterLicense.kind, object: direct }],
    want: [
      "ClusterLicense team/logs",
      "ClusterLicense team/logs-pool",
      "LicenseAssociation team/logs-license",
      "Secret team/signed",
    ],
  },
];

describe("a reconcile follows what the spec names, so that a change brings the cluster back:", () => {
  test.each(rows)("$name", ({ cluster, objects, want }) => {
    const followed = followedBy(cluster, objects);
    expect(want.filter((each) => !followed.includes(each))).toEqual([]);
  });

  test("Secrets of our own names that are not there or have no labels of ours", () => {
    expect(followedBy(aSearchCluster())).toEqual(
      expect.arrayContaining(["Secret team/logs-ca", "Secret team/logs-admin-password"]),
    );
  });
});
