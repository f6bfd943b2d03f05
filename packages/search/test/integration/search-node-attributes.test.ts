import { nodes, pods } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { aCluster, aPool, isReady, setUpSearch } from "../support/search-bench.ts";

test("[search/SC-130] each pod gets the labels of its machine, without permissions of its own; a label that is missing is named", async () => {
  await using bench = await setUpSearch();
  const { client, namespace } = bench;
  const [machine] = await Array.fromAsync(client.list(nodes));
  if (machine === undefined) throw new Error("no machine");
  const label = "topology.kubernetes.io/zone";
  const all = await Array.fromAsync(client.list(nodes));
  await Promise.all(
    all.map(async ({ metadata: { name } }) => {
      const body = { metadata: { labels: { [label]: "zone-1" } } };
      await client.patch(nodes, { name }, { patch: { kind: "merge", body } });
    }),
  );
  const attributes = [{ name: "zone", nodeLabel: label }];
  await bench.apply(
    aCluster("logs", { pools: [aPool("nodes", 1)], general: { nodeAttributes: attributes } }),
  );
  await bench.until("logs", isReady);
  const ref = { namespace, name: "logs-nodes-0" };
  const pod = await eventually(async (see) => {
    const found = await client.get(pods, ref);
    return see(found.metadata.annotations)?.["search.quartermaster.dev/attribute.zone"] === undefined
      ? undefined
      : found;
  });
  expect(pod.metadata.annotations).toMatchObject({ "search.quartermaster.dev/attribute.zone": "zone-1" });
  expect(pod.spec?.volumes).toContainEqual(expect.objectContaining({ name: "node-attributes" }));
  const other = [{ name: "rack", nodeLabel: "topology.kubernetes.io/rack" }];
  await bench.apply(aCluster("more", { pools: [aPool("nodes", 1)], general: { nodeAttributes: other } }));
  const stuck = await bench.until("more", ({ status }) => JSON.stringify(status).includes("lacks labels"));
  expect(JSON.stringify(stuck.status)).toContain("topology.kubernetes.io/rack");
});
