import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { SettingsError } from "../../src/flag-table.ts";
import { describeSettings, readSettings, type Settings } from "../../src/settings.ts";

const defaults: Settings = {
  domains: ["install-plan", "subscription"],
  roles: ["controllers"],
  logLevel: "info",
  concurrency: 4,
  requireAuthor: false,
  requirePolicies: false,
  cluster: { insecureSkipTlsVerify: false },
  metrics: { port: 8080 },
  replica: {},
  subscription: {},
  search: {},
  licensing: { licenseNamespace: "quartermaster-licenses" },
  isHelpWanted: false,
};

interface Case {
  readonly name: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly want: Settings;
}

const cases: readonly Case[] = [
  { name: "nothing given", want: defaults },
  {
    name: "a subscription configuration",
    args: ["--subscription-config", "/s.json"],
    want: { ...defaults, subscription: { configPath: "/s.json" } },
  },
  {
    name: "a proxy to engines, as a socket",
    args: ["--engine-proxy", "unix:/run/pods.sock"],
    want: { ...defaults, search: { engineProxy: { socketPath: "/run/pods.sock" } } },
  },
  {
    name: "a proxy to engines, as an address",
    env: { QM_ENGINE_PROXY: "http://10.0.0.1:3128" },
    want: { ...defaults, search: { engineProxy: { host: "10.0.0.1", port: 3128 } } },
  },
  {
    name: "an image of the exporter",
    args: ["--search-exporter-image", "registry/exporter:1"],
    want: { ...defaults, search: { exporterImage: "registry/exporter:1" } },
  },
  {
    name: "a domain of Services",
    args: ["--cluster-domain", "k8s.example"],
    want: { ...defaults, search: { clusterDomain: "k8s.example" } },
  },
  { name: "domains", args: ["--domains", "install-plan"], want: { ...defaults, domains: ["install-plan"] } },
  {
    name: "flags",
    args: ["--kubeconfig", "/k", "--metrics-port=0", "--concurrency", "8", "--log-level", "debug"],
    want: {
      ...defaults,
      cluster: { ...defaults.cluster, kubeconfigPath: "/k" },
      metrics: { port: 0 },
      concurrency: 8,
      logLevel: "debug",
    },
  },
  {
    name: "a flag that stands alone",
    args: ["--insecure-skip-tls-verify", "--context", "mine"],
    want: { ...defaults, cluster: { insecureSkipTlsVerify: true, context: "mine" } },
  },
  {
    name: "environment",
    env: { QM_LEASE_NAMESPACE: "quartermaster", QM_IDENTITY: "pod-1", QM_WATCH_NAMESPACE: "shop" },
    want: {
      ...defaults,
      replica: { leaseNamespace: "quartermaster", identity: "pod-1" },
      watchNamespace: "shop",
    },
  },
  {
    name: "a flag against its variable",
    args: ["--context", "mine"],
    env: { QM_CONTEXT: "theirs" },
    want: { ...defaults, cluster: { ...defaults.cluster, context: "mine" } },
  },
  {
    name: "an empty variable counts as none",
    env: { QM_WATCH_NAMESPACE: "", QM_METRICS_PORT: "", QM_CONCURRENCY: "", QM_LOG_LEVEL: "" },
    want: defaults,
  },
  {
    name: "an address",
    args: ["--metrics-host", "::1"],
    want: { ...defaults, metrics: { port: 8080, host: "::1" } },
  },
  { name: "a switch", args: ["--require-author"], want: { ...defaults, requireAuthor: true } },
  {
    name: "a switch against its variable",
    args: ["--require-author=false"],
    env: { QM_REQUIRE_AUTHOR: "true" },
    want: defaults,
  },
  { name: "its variable", env: { QM_REQUIRE_AUTHOR: "true" }, want: { ...defaults, requireAuthor: true } },
  {
    name: "both roles with a Service",
    args: ["--roles=controllers,webhook", "--webhook-service", "quartermaster/webhook"],
    want: {
      ...defaults,
      roles: ["controllers", "webhook"],
      webhook: {
        address: { service: { namespace: "quartermaster", name: "webhook" } },
        namespace: "quartermaster",
        clusterRole: "quartermaster-webhook",
        port: 9443,
      },
    },
  },
  {
    name: "policies that must be there",
    env: { QM_REQUIRE_POLICIES: "true" },
    want: { ...defaults, requirePolicies: true },
  },
  {
    name: "a webhook outside the cluster",
    args: ["--webhook-url", "https://10.0.0.1:9444/", "--webhook-port=9444", "--webhook-host=10.0.0.1"],
    env: { QM_ROLES: "webhook", QM_WEBHOOK_NAMESPACE: "quartermaster" },
    want: {
      ...defaults,
      roles: ["webhook"],
      webhook: {
        address: { url: "https://10.0.0.1:9444" },
        namespace: "quartermaster",
        clusterRole: "quartermaster-webhook",
        port: 9444,
        host: "10.0.0.1",
      },
    },
  },
  {
    name: "a certificate of cert-manager",
    args: ["--webhook-cert-file=/t/tls.crt", "--webhook-key-file=/t/tls.key", "--webhook-ca-file=/t/ca.crt"],
    env: { QM_WEBHOOK_SERVICE: "a/b" },
    want: {
      ...defaults,
      webhook: {
        address: { service: { namespace: "a", name: "b" } },
        namespace: "a",
        clusterRole: "quartermaster-webhook",
        port: 9443,
        files: { certificatePath: "/t/tls.crt", keyPath: "/t/tls.key" },
        caSource: { kind: "file", path: "/t/ca.crt" },
      },
    },
  },
  {
    name: "a certificate of the platform",
    args: ["--webhook-cert-file=/t/tls.crt", "--webhook-key-file=/t/tls.key", "--webhook-ca-configmap=ca"],
    env: { QM_WEBHOOK_SERVICE: "a/b" },
    want: {
      ...defaults,
      webhook: {
        address: { service: { namespace: "a", name: "b" } },
        namespace: "a",
        clusterRole: "quartermaster-webhook",
        port: 9443,
        files: { certificatePath: "/t/tls.crt", keyPath: "/t/tls.key" },
        caSource: {
          kind: "configMap",
          ref: { namespace: "a", name: "ca" },
          key: "service-ca.crt",
        },
      },
    },
  },
  {
    name: "callers with a certificate",
    args: ["--webhook-client-ca-file=/c/ca.crt"],
    want: { ...defaults, webhookClientCaPath: "/c/ca.crt" },
  },
  {
    name: "controllers that keep the configurations of a webhook elsewhere",
    env: { QM_WEBHOOK_SERVICE: "a/b" },
    want: {
      ...defaults,
      webhook: {
        address: { service: { namespace: "a", name: "b" } },
        namespace: "a",
        clusterRole: "quartermaster-webhook",
        port: 9443,
      },
    },
  },
  { name: "help", args: ["--help"], want: { ...defaults, isHelpWanted: true } },
  { name: "help in short", args: ["-h"], want: { ...defaults, isHelpWanted: true } },
];

test.each(cases)("reads $name", ({ args = [], env = {}, want }) => {
  expect(readSettings(args, env)).toEqual(want);
});

test.each([
  { name: "an unknown flag", args: ["--verbose"], env: {}, says: /--verbose/ },
  { name: "a switch that is neither", args: [], env: { QM_REQUIRE_AUTHOR: "yes" }, says: /--require-author/ },
  { name: "a port that is none", args: ["--metrics-port", "many"], env: {}, says: /--metrics-port/ },
  { name: "a port in hexadecimal", args: ["--metrics-port", "0x10"], env: {}, says: /--metrics-port/ },
  {
    name: "a namespace that is none",
    args: ["--watch-namespace", "My Shop"],
    env: { QM_LEASE_NAMESPACE: "a/b" },
    says: /--watch-namespace.*--lease-namespace/,
  },
  { name: "a role that does not exist", args: ["--roles=webhooks"], env: {}, says: /--roles/ },
  { name: "a webhook without an address", args: ["--roles=webhook"], env: {}, says: /--webhook-service/ },
  {
    name: "a webhook's address without a namespace",
    args: ["--roles=webhook", "--webhook-url=https://10.0.0.1"],
    env: {},
    says: /--webhook-namespace/,
  },
  {
    name: "a certificate without its key",
    args: ["--webhook-cert-file=/t/tls.crt"],
    env: {},
    says: /--webhook-key-file: give both/,
  },
  {
    name: "a CA without a certificate",
    args: ["--webhook-ca-file=/t/ca.crt"],
    env: {},
    says: /need --webhook-cert-file/,
  },
  {
    name: "two CAs",
    args: ["--webhook-ca-file=/t/ca.crt", "--webhook-ca-configmap=ca"],
    env: {},
    says: /give one of them/,
  },
  {
    name: "a webhook over plain HTTP",
    args: ["--webhook-url=http://10.0.0.1"],
    env: {},
    says: /--webhook-url/,
  },
  {
    name: "a Service without a namespace",
    args: ["--webhook-service=x"],
    env: {},
    says: /--webhook-service/,
  },
  { name: "a variable in fault", args: [], env: { QM_LOG_LEVEL: "loud" }, says: /--log-level/ },
  {
    name: "all problems together",
    args: ["--concurrency", "0"],
    env: { QM_METRICS_PORT: "-1" },
    says: /--metrics-port.*--concurrency/,
  },
])("refuses $name", ({ args, env, says }) => {
  expect(() => readSettings(args, env)).toThrow(SettingsError);
  expect(() => readSettings(args, env)).toThrow(says);
});

test("the reference page lists every flag as --help does", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/reference/operator.md"), "utf8");
  const onPage = [...page.matchAll(/^\| `(--[a-z-]+)` \| `(\w+)` \| (.*) \|$/gm)].map(([, ...text]) => text);
  const inHelp = [...describeSettings().matchAll(/^ {2}(--[a-z-]+) +(\w+) +(.*)$/gm)].map(
    ([, ...text]) => text,
  );
  expect(inHelp).not.toEqual([]);
  expect(onPage).toEqual(inHelp);
});
