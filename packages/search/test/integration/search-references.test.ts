import type { Kind, KubeObject } from "@quartermaster/runtime";
import { configMaps, pods, secrets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const pools = [aPool("nodes", 1)];
const withFiles = aCluster("logs", {
  pools,
  spec: { security: { config: { securityConfigSecret: { name: "files" } } } },
});

async function make({ client, namespace }: SearchBench, kind: Kind, name: string): Promise<void> {
  const content = { "roles.yml": "reader: { cluster_permissions: [a] }\n", username: "u", password: "p" };
  await client.create<KubeObject>(kind, {
    apiVersion: "v1",
    kind: kind.kind,
    metadata: { name, namespace },
    ...(kind.kind === "Secret" ? { stringData: content } : { data: content }),
  });
}

async function notReady(bench: SearchBench, text: string): Promise<void> {
  const found = await bench.until(
    "logs",
    (object) => conditionOf(object, "Ready") === "False/AwaitingMaterial" && messageOf(object).includes(text),
  );
  expect(messageOf(found)).toContain(text);
}

async function podUids({ client, namespace }: SearchBench): Promise<readonly string[]> {
  return (await Array.fromAsync(client.list(pods, { namespace }))).map(({ metadata }) => metadata.uid);
}

describe("[first-use/2] a reference to what does not exist", () => {
  test("[first-use/2] securityConfigSecret that is not there: not Ready, by name; picked up when it appears", async () => {
    await using bench = await setUpSearch();
    await bench.apply(withFiles);
    await notReady(bench, "Secret files");
    expect(await podUids(bench)).toEqual([]);
    await make(bench, secrets, "files");
    await bench.until("logs", isReady);
    expect(bench.engines.engine("logs").securityEntity("roles", "reader")).toBeDefined();
  });

  test("[first-use/2] securityConfigSecret is deleted: users and roles stay, and the cluster says so until it is back", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const engine = bench.engines.engine("logs");
    await make(bench, secrets, "files");
    await bench.apply(withFiles);
    await bench.until("logs", isReady);
    await client.delete(secrets, { namespace, name: "files" });
    await notReady(bench, "Secret files");
    expect(engine.securityEntity("roles", "reader")).toBeDefined();
    await make(bench, secrets, "files");
    await bench.until("logs", isReady);
    expect(engine.securityEntity("roles", "reader")).toBeDefined();
  });

  const references: readonly [string, Kind, Parameters<typeof aCluster>[1]][] = [
    ["keystore", secrets, { general: { keystore: [{ secret: { name: "wanted" } }] } }],
    [
      "a volume of a Secret",
      secrets,
      { general: { additionalVolumes: [{ name: "v", path: "/v", secret: { secretName: "wanted" } }] } },
    ],
    [
      "a volume of a ConfigMap",
      configMaps,
      { general: { additionalVolumes: [{ name: "v", path: "/v", configMap: { name: "wanted" } }] } },
    ],
    ["imagePullSecrets", secrets, { general: { imagePullSecrets: [{ name: "wanted" }] } }],
    [
      "credentials of Dashboards",
      secrets,
      {
        spec: {
          dashboards: { enable: true, version: "2.19.4", opensearchCredentialsSecret: { name: "wanted" } },
        },
      },
    ],
  ];
  test.for(references)(
    "[first-use/2] %s: nothing is restarted into waiting for it",
    async ([, kind, changes]) => {
      await using bench = await setUpSearch();
      await bench.apply(aCluster("logs", { pools }));
      await bench.until("logs", isReady);
      const before = await podUids(bench);
      await bench.apply(aCluster("logs", { pools, ...changes }));
      await notReady(bench, `${kind.kind} wanted`);
      expect((await podUids(bench)).filter((uid) => before.includes(uid))).toEqual(before);
      await make(bench, kind, "wanted");
      await eventually(async (see) => !see(messageOf(await bench.get("logs"))).includes("wanted"));
    },
  );
});
