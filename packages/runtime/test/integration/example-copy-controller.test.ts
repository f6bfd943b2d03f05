import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { eventually, joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { defineKind } from "../../src/object/kind.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { connect } from "../support/connect.ts";
import { configMaps } from "../support/kinds.ts";
import { startExample } from "../support/start-example.ts";
import { conditionOf, type Widget } from "../support/widgets.ts";

const root = join(import.meta.dirname, "../../../..");
const directory = join(root, "examples/copy-controller");
const copies = defineKind<Widget>({
  group: "example.org",
  version: "v1",
  kind: "Copy",
  plural: "copies",
  scope: "Namespaced",
});

describe("the example in the README", () => {
  test("is the file that is tested, of at most 30 lines", () => {
    const example = readFileSync(join(directory, "main.ts"), "utf8");
    const readme = readFileSync(join(root, "packages/runtime/README.md"), "utf8");
    expect(readme).toContain(`\`\`\`ts\n${example}\`\`\`\n`);
    expect(example.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
  });

  test("copies, follows changes, makes a deleted copy again with its owner, and ends with code 0 on SIGTERM", async () => {
    using cluster = joinSharedCluster();
    await using connected = connect(cluster.admin);
    const { client } = connected;
    await using namespace = await makeNamespace(cluster.api, "example");
    const ref = { name: "one", namespace: namespace.name };
    const definition: unknown = JSON.parse(readFileSync(join(directory, "crd.json"), "utf8"));
    await cluster.api.apply(
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/copies.example.org",
      definition,
    );
    // Started immediately: the kind may not be served yet.
    await using example = startExample("copy-controller", { KUBECONFIG: cluster.kubeconfigPath });
    const copy = (text: string): Widget => ({
      apiVersion: "example.org/v1",
      kind: "Copy",
      metadata: ref,
      spec: { text },
    });
    const write = async (text: string): Promise<KubeObject> =>
      await client.apply(copies, copy(text), { fieldManager: "user", force: true });
    const text = async (want: string): Promise<true> =>
      await eventually(async (see) => see(await client.find(configMaps, ref))?.data?.["text"] === want);

    await eventually(async () => await write("first"));
    await text("first");
    await write("second");
    await text("second");
    await client.delete(configMaps, ref);
    await text("second");
    const ready = await eventually(async (see) => {
      const found = see(await client.get(copies, ref));
      return found.status?.observedGeneration === 2 && conditionOf(found, "Ready");
    });
    expect(ready.status).toBe("True");
    const { uid } = (await client.get(copies, ref)).metadata;
    const { ownerReferences } = (await client.get(configMaps, ref)).metadata;
    expect(ownerReferences).toMatchObject([{ kind: "Copy", name: "one", uid, controller: true }]);

    const ended = once(example, "exit");
    example.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });
});
