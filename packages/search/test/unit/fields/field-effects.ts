import type { JsonObject } from "@quartermaster/runtime";

import { config, type FieldEffect, line, named, type Row, set, ui, uiOn, uiTls } from "./field-rows.ts";
import { nodeFieldRows } from "./node-field-rows.ts";

const dn = "CN=who,O=example";
const security: readonly Row[] = [
  ["security.config.adminCredentialsSecret.name", "own", "cluster", { adminCredentialsSecret: "own" }],
  ["security.config.securityConfigSecret.name", "own", "cluster", { securityConfigSecret: "own" }],
  ["security.config.adminSecret.name", "own", "cluster", { adminSecret: "own" }],
  ["security.config.operatorClientCert.name", "own", "cluster", { adminSecret: "own" }],
  ["security.config.operatorClientServerName", "os.example", "target", { serverName: "os.example" }],
  ["security.tls.http.enabled", false, config, line("plugins.security.ssl.http.enabled: false")],
  [
    "security.tls.transport.enabled",
    false,
    config,
    line("plugins.security.disabled: true"),
    { "security.tls.http.enabled": false },
  ],
  ["security.tls.http.customFQDN", "os.example", "certificates", "os.example"],
  ["security.tls.transport.nodesDn", [dn], config, new RegExp(`nodes_dn: \\[.*"${dn}"`)],
  ...(["http", "transport"] as const).flatMap((layer): readonly Row[] => [
    [`security.tls.${layer}.secret.name`, "own", set, { secret: { name: "own" } }],
    [
      `security.tls.${layer}.generate`,
      true,
      "cluster",
      { [layer]: { isGenerated: true } },
      { [`security.tls.${layer}.secret.name`]: "own" },
    ],
    [
      `security.tls.${layer}.duration`,
      "700h",
      "certificates",
      { certificate: layer, durationMs: 700 * 3_600_000 },
    ],
    [
      `security.tls.${layer}.rotateDaysBeforeExpiry`,
      7,
      "cluster",
      { [layer]: { renewBeforeMs: 7 * 86_400_000 } },
    ],
    [`security.tls.${layer}.adminDn`, [dn], config, new RegExp(`admin_dn: \\[.*"${dn}"`)],
  ]),
  [
    "security.tls.http.caSecret.name",
    "ca",
    "certificates",
    { certificate: "http", ca: { certificatePem: "CA of ca" } },
  ],
  ["security.tls.transport.caSecret.name", "ca", "cluster", { transport: { caSecret: "ca" } }],
];

const uiPart = (
  path: string,
  to: unknown,
  ...[has, of = ui, given = uiOn]: readonly [has: unknown, of?: string, given?: FieldEffect["given"]]
): Row => [`dashboards.${path}`, to, of, has, given];
const uiConfig = "ConfigMap logs-dashboards-config";
const dashboards: readonly Row[] = [
  ["dashboards.enable", true, ui, { metadata: { name: "logs-dashboards" } }],
  uiPart("additionalConfig", { "a.b": "c" }, line('a.b: "c"'), uiConfig),
  uiPart("affinity", { a: 1 }, { affinity: { a: 1 } }),
  uiPart("annotations", { a: "b" }, { annotations: { a: "b" } }, "Service logs-dashboards"),
  uiPart("labels", { a: "b" }, { template: { metadata: { labels: { a: "b" } } } }),
  uiPart("basePath", "/d", line('server.basePath: "/d"'), uiConfig),
  uiPart("env", [{ name: "A", value: "b" }], { name: "A", value: "b" }),
  uiPart("hostAliases", [{ ip: "10.0.0.9" }], { hostAliases: [{ ip: "10.0.0.9" }] }),
  uiPart("image", "r.example/ui:1", { image: "r.example/ui:1" }),
  uiPart("imagePullPolicy", "Always", { imagePullPolicy: "Always" }),
  uiPart("imagePullSecrets[].name", "pull", { imagePullSecrets: [named("pull")] }),
  uiPart("nodeSelector", { a: "b" }, { nodeSelector: { a: "b" } }),
  uiPart("opensearchCredentialsSecret.name", "login", { secretKeyRef: { name: "login" } }),
  uiPart("opensearchDashboardsHome", "/opt/ui", { mountPath: "/opt/ui/data" }),
  uiPart(
    "pluginsList",
    ["some-plugin"],
    ["/usr/share/opensearch-dashboards/bin/opensearch-dashboards-plugin", "some-plugin"],
  ),
  uiPart("podSecurityContext", { fsGroup: 7 }, { securityContext: { fsGroup: 7 } }),
  uiPart("securityContext", { runAsUser: 7 }, { securityContext: { runAsUser: 7 } }),
  uiPart("priorityClassName", "high", { priorityClassName: "high" }),
  uiPart("replicas", 7, { replicas: 7 }),
  uiPart("resources", { limits: { cpu: "7" } }, { resources: { limits: { cpu: "7" } } }),
  uiPart("service.type", "NodePort", { type: "NodePort" }, "Service logs-dashboards"),
  uiPart("service.labels", { a: "b" }, { labels: { a: "b" } }, "Service logs-dashboards"),
  uiPart(
    "service.loadBalancerSourceRanges",
    ["10.0.0.0/8"],
    { loadBalancerSourceRanges: ["10.0.0.0/8"] },
    "Service logs-dashboards",
    { ...uiOn, "dashboards.service.type": "LoadBalancer" },
  ),
  uiPart("tls.enable", true, line("server.ssl.enabled: true"), uiConfig),
  uiPart("tls.generate", true, { secretName: "logs-dashboards-cert" }, ui, {
    ...uiTls,
    "dashboards.tls.secret.name": "own",
  }),
  uiPart("tls.secret.name", "own", { secretName: "own" }, ui, uiTls),
  uiPart(
    "tls.caSecret.name",
    "ca",
    { certificate: "dashboards", ca: { certificatePem: "CA of ca" } },
    "certificates",
    uiTls,
  ),
  uiPart(
    "tls.duration",
    "700h",
    { certificate: "dashboards", durationMs: 700 * 3_600_000 },
    "certificates",
    uiTls,
  ),
  uiPart("tolerations", [{ key: "a" }], { tolerations: [{ key: "a" }] }),
  uiPart("topologySpreadConstraints", [{ maxSkew: 7 }], { topologySpreadConstraints: [{ maxSkew: 7 }] }),
  uiPart("version", "2.19.3", { image: "docker.io/opensearchproject/opensearch-dashboards:2.19.3" }),
];

const helped = { "general.setVMMaxMapCount": true };
const operator: readonly Row[] = [
  ["confMgmt.smartScaler", false, "cluster", { drainsBeforeRemoval: false }],
  [
    "initHelper.image",
    "r.example/box:1",
    set,
    { name: "set-max-map-count", image: "r.example/box:1" },
    helped,
  ],
  ["initHelper.version", "1.36", set, { name: "set-max-map-count", image: "docker.io/busybox:1.36" }, helped],
  [
    "initHelper.imagePullPolicy",
    "Always",
    set,
    { name: "set-max-map-count", imagePullPolicy: "Always" },
    { ...helped, "initHelper.version": "1" },
  ],
  [
    "initHelper.imagePullSecrets[].name",
    "pull",
    set,
    { imagePullSecrets: [named("pull")] },
    { ...helped, "initHelper.version": "1" },
  ],
  [
    "initHelper.resources",
    { limits: { cpu: "7" } },
    set,
    { name: "prepare", resources: { limits: { cpu: "7" } } },
  ],
  ["operations.paused", true, "cluster", { isPaused: true }],
  ["operations.deletionProtection", true, "cluster", { isDeletionProtected: true }],
  [
    "operations.windows[].cron",
    "0 2 * * sat",
    "cluster",
    { windows: [{ cron: "0 2 * * sat" }] },
    { "operations.windows[].cron": "0 3 * * *", "operations.windows[].duration": "1h" },
  ],
  [
    "operations.windows[].duration",
    "7m",
    "cluster",
    { windows: [{ durationMs: 420_000 }] },
    { "operations.windows[].duration": "1h", "operations.windows[].cron": "0 2 * * sat" },
  ],
  [
    "operations.windows[].timeZone",
    "Europe/Berlin",
    "cluster",
    { windows: [{ timeZone: "Europe/Berlin" }] },
    { "operations.windows[].duration": "1h", "operations.windows[].cron": "0 2 * * sat" },
  ],
];

const sources: Readonly<Record<string, JsonObject>> = {
  secret: { secretName: "s" },
  configMap: { name: "c" },
  emptyDir: { medium: "Memory" },
  csi: { driver: "d" },
  persistentVolumeClaim: { claimName: "c" },
  projected: { defaultMode: 7 },
  nfs: { server: "n", path: "/" },
  hostPath: { path: "/h" },
};

function volumes(at: string, of: string, on: FieldEffect["given"]): readonly Row[] {
  const field = (name: string): string => `${at}.additionalVolumes[].${name}`;
  const whole = { ...on, [field("name")]: "extra", [field("path")]: "/extra", [field("emptyDir")]: {} };
  return [
    [field("name"), "vol", of, { volumes: [{ name: "vol" }] }, whole],
    [field("path"), "/vol", of, { mountPath: "/vol" }, whole],
    [field("subPath"), "sub", of, { subPath: "sub" }, whole],
    ...Object.entries(sources).map(([source, content]): Row => [
      field(source),
      content,
      of,
      { name: "extra", [source]: content },
      { ...on, [field("name")]: "extra", [field("path")]: "/extra" },
    ]),
  ];
}

/** Every field with an effect on an OpenSearchCluster. */
export const fieldEffects: readonly FieldEffect[] = [
  ...nodeFieldRows,
  ...security,
  ...dashboards,
  ...operator,
  ...volumes("general", set, {}),
  ...volumes("dashboards", ui, uiOn),
].map(([path, to, of, has, given]) => ({ path, to, of, has, ...(given === undefined ? {} : { given }) }));
