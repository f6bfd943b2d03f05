import { describe, expect, test } from "vitest";

import { settingIssues } from "../../../src/cluster-settings/cluster-settings-lane.ts";
import { addressRefusal, isHostEntry, urlPatterns } from "../../../src/repositories/address-refusal.ts";
import { repositoryIssues } from "../../../src/repositories/repository-issues.ts";
import { specIssues } from "../../../src/spec-issues.ts";
import { nodeSettings, sharedSettings } from "../../../src/workload/node-settings.ts";
import { aPool, aSearchCluster } from "../../a-search-cluster.ts";

const at = "spec.general.snapshotRepositories[0]";

interface Case {
  readonly name: string;
  readonly type: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly hosts?: readonly string[];
  readonly pathRepo?: string;
  /** Field and reason; left out if it is allowed. */
  readonly want?: readonly [field: string, reason: string];
}

const notAllowed = "RepositoryNotAllowed";

const cases: readonly Case[] = [
  { name: "s3 without an endpoint", type: "s3", settings: { bucket: "b", region: "eu-central-1" } },
  {
    name: "s3 at its maker's host",
    type: "s3",
    settings: { bucket: "b", endpoint: "s3.eu-central-1.amazonaws.com" },
  },
  {
    name: "s3 at a host that only begins like it",
    type: "s3",
    settings: { bucket: "b", endpoint: "s3.amazonaws.com.evil.example" },
    want: ["settings.endpoint", notAllowed],
  },
  {
    name: "s3 at a Service of the cluster",
    type: "s3",
    settings: { bucket: "b", endpoint: "http://minio.storage.svc:9000" },
    want: ["settings.endpoint", notAllowed],
  },
  {
    name: "s3 at a Service that the operator allows by name",
    type: "s3",
    settings: { bucket: "b", endpoint: "http://minio.storage.svc:9000" },
    hosts: ["http://minio.storage.svc:9000"],
  },
  {
    name: "the same without TLS where the operator allows it with TLS only",
    type: "s3",
    settings: { bucket: "b", endpoint: "http://backups.example.com" },
    hosts: ["backups.example.com"],
    want: ["settings.endpoint", notAllowed],
  },
  {
    name: "s3 at a Service that only a pattern of the operator's would allow",
    type: "s3",
    settings: { bucket: "b", endpoint: "https://minio.storage.svc" },
    hosts: ["*.svc", "*.storage.svc"],
    want: ["settings.endpoint", notAllowed],
  },
  {
    name: "s3 at a host that only ends like an allowed one",
    type: "s3",
    settings: { bucket: "b", endpoint: "https://evil-example.com" },
    hosts: ["*.example.com"],
    want: ["settings.endpoint", notAllowed],
  },
  {
    name: "s3 through a proxy",
    type: "s3",
    settings: { bucket: "b", "proxy.host": "10.0.0.1" },
    want: ["settings.proxy.host", notAllowed],
  },
  {
    name: "s3 with a region that changes the host",
    type: "s3",
    settings: { bucket: "b", region: "x@169.254.169.254/" },
    want: ["settings.region", notAllowed],
  },
  {
    name: "s3 with its key in the spec",
    type: "s3",
    settings: { bucket: "b", secret_key: "canary-secret" },
    want: ["settings.secret_key", "InvalidSpec"],
  },
  {
    name: "url of anybody",
    type: "url",
    settings: { url: "https://backups.example.com/snapshots" },
    want: ["settings.url", notAllowed],
  },
  {
    name: "url of an object store, which is not for type url",
    type: "url",
    settings: { url: "https://b.s3.amazonaws.com/snapshots" },
    want: ["settings.url", notAllowed],
  },
  {
    name: "url that the operator allows",
    type: "url",
    settings: { url: "https://backups.example.com/snapshots" },
    hosts: ["*.example.com"],
  },
  {
    name: "url to a file",
    type: "url",
    settings: { url: "file:///etc/passwd" },
    hosts: ["*.example.com"],
    want: ["settings.url", notAllowed],
  },
  { name: "url without one", type: "url", settings: {}, want: ["settings.url", "InvalidSpec"] },
  {
    name: "hdfs at a host of the cluster",
    type: "hdfs",
    settings: { uri: "hdfs://namenode:8020", path: "x" },
    want: ["settings.uri", notAllowed],
  },
  {
    name: "a type that no one knows, with an address in it",
    type: "custom",
    settings: { where: "https://169.254.169.254/latest" },
    want: ["settings.where", notAllowed],
  },
  { name: "fs below path.repo", type: "fs", settings: { location: "/snapshots/a" }, pathRepo: "/snapshots" },
  { name: "fs with a relative directory", type: "fs", settings: { location: "a/b" }, pathRepo: "/snapshots" },
  {
    name: "fs that leaves path.repo",
    type: "fs",
    settings: { location: "/snapshots/../etc" },
    pathRepo: "/snapshots",
    want: ["settings.location", notAllowed],
  },
  {
    name: "fs beside path.repo",
    type: "fs",
    settings: { location: "/snapshots-of-others" },
    pathRepo: "/snapshots",
    want: ["settings.location", notAllowed],
  },
  {
    name: "fs without path.repo",
    type: "fs",
    settings: { location: "/snapshots" },
    want: ["settings.location", notAllowed],
  },
  { name: "fs without a directory", type: "fs", settings: {}, want: ["settings.location", "InvalidSpec"] },
];

describe("snapshot repositories that an author may declare", () => {
  test.for(cases)("[security/78] $name", ({ type, settings, hosts, pathRepo, want }) => {
    const cluster = aSearchCluster({
      repositories: [{ name: "backup", type, settings }],
      config: pathRepo === undefined ? {} : { "path.repo": pathRepo },
    });
    const issues = repositoryIssues(cluster, { snapshotHosts: hosts });
    expect(issues.map(({ path, reason }) => [path, reason])).toEqual(
      want === undefined ? [] : [[`${at}.${want[0]}`, want[1]]],
    );
    expect(JSON.stringify(issues)).not.toContain("canary");
  });

  test.for([
    "https://127.0.0.1/x",
    "https://127.1/x",
    "https://2130706433/x",
    "https://0x7f000001/x",
    "https://0/x",
    "http://169.254.169.254/latest/meta-data",
    "https://localhost:9200",
    "https://a.localhost",
    "https://metadata.google.internal/computeMetadata",
    "https://allowed.example@169.254.169.254/",
    "https://allowed.example\\@169.254.169.254/",
    "https://allowed.example#@169.254.169.254/",
    "https://[::1]/x",
    "https://[::ffff:127.0.0.1]/x",
    "https://allowed.example:443@10.0.0.1/",
    "https://evil.example/?allowed.example",
    "https://10.0.0.1/x",
    "https://192.168.0.1/x",
    "https://kubernetes.default.svc/x",
    "https://kubernetes.default.svc.cluster.local/x",
    "https://kubernetes/x",
    "gopher://allowed.example/",
    "jar:https://allowed.example!/x",
    " https://allowed.example",
    "https://allowed.example\n",
  ])("[security/78] an address that must not be reached: %j", (address) => {
    const why = addressRefusal(address, ["allowed.example", "*.example.com"]);
    expect(why).toBeDefined();
    expect(why ?? "").not.toContain("\n");
  });

  test("[security/78] not even an administrator's list reaches the machine itself or its metadata service", () => {
    const allowed = ["127.0.0.1", "http://169.254.169.254", "localhost"];
    for (const address of ["https://127.0.0.1", "http://169.254.169.254", "https://localhost"])
      expect(addressRefusal(address, allowed)).toContain("never allowed");
  });

  test("[security/78] what a client of the engine is configured with goes through the same list", () => {
    const config = {
      "s3.client.default.endpoint": "http://169.254.169.254",
      "s3.client.default.region": "eu-central-1",
      "gcs.client": "{default: {token_uri: 'https://10.0.0.1/token'}}",
      "azure.client.default.endpoint_suffix": "core.windows.net",
    };
    const issues = repositoryIssues(aSearchCluster({ config, pools: [aPool({ config })] }), {});
    expect(issues.map(({ path, reason }) => `${path} ${reason}`)).toEqual(
      ["spec.general.additionalConfig", "spec.nodePools[0].additionalConfig"].flatMap((path) => [
        `${path}.gcs.client.default.token_uri ${notAllowed}`,
        `${path}.s3.client.default.endpoint ${notAllowed}`,
      ]),
    );
  });

  test("[security/78] the engine's own list of addresses is the operator's, and no author's", () => {
    const cluster = aSearchCluster({
      config: { "repositories.url.allowed_urls": "http://*" },
      repositoryUrls: urlPatterns(["*.example.com", "http://minio.storage.svc:9000"]),
    });
    const [pool] = cluster.pools;
    const issues = specIssues(cluster, { pluginHosts: [] });
    expect(issues.map(({ path, reason }) => `${path} ${reason}`)).toEqual([
      "spec.general.additionalConfig.repositories.url.allowed_urls ReservedSetting",
    ]);
    const urls = ["http://minio.storage.svc:9000/*", "https://*.example.com/*"];
    expect(nodeSettings(cluster, pool ?? aPool())["repositories.url.allowed_urls"]).toEqual(urls);
    // Engines whose image lacks the module refuse the setting: where nothing is allowed, it is left out, and nothing is.
    expect(sharedSettings(aSearchCluster())).not.toHaveProperty(["repositories.url.allowed_urls"]);
  });

  test("names that reach more than one repository, and names twice, are invalid", () => {
    const repositories = ["*", "a,b", "_all", "a/b", "backup", "backup"].map((name) => ({
      name,
      type: "s3",
      settings: {},
    }));
    const issues = repositoryIssues(aSearchCluster({ repositories }), {});
    expect(issues.map(({ path }) => path)).toEqual(
      [0, 1, 2, 3, 5].map((each) => `spec.general.snapshotRepositories[${String(each)}].name`),
    );
  });

  test.for<readonly [string, boolean]>([
    ["backups.example.com", true],
    ["*.example.com", true],
    ["http://minio.storage.svc:9000", true],
    ["*", false],
    ["ftp://a.example", false],
    ["a.example/path", false],
    ["", false],
  ])("the operator's list takes %j: %s", ([entry, want]) => {
    expect(isHostEntry(entry)).toBe(want);
  });
});

test("dynamic settings that reach others, or that operations write, are refused", () => {
  const dynamicSettings = {
    "*": "x",
    "cluster.routing.allocation.enable": "none",
    "cluster.routing.allocation.exclude._name": "a",
    "cluster.metadata.quartermaster_excluded": "a",
    "indices.recovery.max_bytes_per_sec": "40mb",
  };
  expect(settingIssues({ dynamicSettings }).map(({ path, reason }) => `${path} ${reason}`)).toEqual([
    "spec.general.clusterSettings.* InvalidSpec",
    "spec.general.clusterSettings.cluster.metadata.quartermaster_excluded ReservedSetting",
    "spec.general.clusterSettings.cluster.routing.allocation.enable ReservedSetting",
    "spec.general.clusterSettings.cluster.routing.allocation.exclude._name ReservedSetting",
  ]);
});
