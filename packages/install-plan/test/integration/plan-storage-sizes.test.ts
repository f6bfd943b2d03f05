import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGzip } from "node:zlib";

import { resourceManifest } from "@quartermaster/api";
import { aConfigMap, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { pack } from "../../src/offline/index.ts";
import { widget, widgets } from "../support/definitions.ts";
import { crds } from "../support/kinds.ts";
import { configMap, gated } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { createPacked, reference, store, storedName } from "../support/stored.ts";
import { allPermissions, setUpWorkbench } from "../support/workbench.ts";

const mebibyte = 2 ** 20;

describe("sizes", () => {
  test("[install-plan/23] data that inflates beyond the limit is refused in bounded memory", async () => {
    await using bench = await setUpWorkbench();
    const bomb = (await buffer(Readable.from(zeros(256)).pipe(createGzip()))).toString("base64");
    const claimed = aConfigMap({ name: "bomb" });
    const before = process.resourceUsage().maxRSS;
    await store(bench, claimed, { data: bomb });
    await bench.create(bench.plan("p", [{ name: "s", resources: [reference(claimed)] }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain("inflates to more than 4 MiB");
    const ref = { namespace: bench.namespace, name: storedName(claimed) };
    const manifest = await eventually(async () => {
      const found = await bench.client.get(resourceManifest.kind, ref);
      return found.status?.valid === false ? found : undefined;
    });
    expect(manifest.status?.reason).toContain("inflates to more than 4 MiB");
    const grownBytes = (process.resourceUsage().maxRSS - before) * 1024;
    expect(grownBytes).toBeLessThan(64 * mebibyte);
  });

  test("[install-plan/24] a plan that is too large as written installs once it is packed", async () => {
    await using bench = await setUpWorkbench();
    const objects = Array.from({ length: 40 }, (_, index) =>
      aConfigMap({ name: `c${index}`, data: { text: randomBytes(48 * 1024).toString("hex") } }),
    );
    const resources = objects.map((manifest) => ({ manifest }));
    const inline = bench.plan("inline", [{ name: "s", resources }]);
    await expect(bench.create(inline)).rejects.toMatchObject({ class: "tooLarge" });
    const result = pack(
      objects.map((value, index) => ({ value, source: `document ${index + 1}` })),
      { name: "packed", namespace: bench.namespace, serviceAccountName: bench.account },
    );
    expect(result.issues).toEqual([]);
    await createPacked(bench, result);
    const { status } = await bench.installed("packed");
    expect(status?.counts).toMatchObject({ total: 40, ready: 40 });
  });

  test("[install-plan/26] one object of 1.4 MB is refused by the packer with its size, and whole when stored by hand", async () => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const definition = widgets(`${bench.namespace}.example.com`);
    bench.use(removing(bench.client, crds, definition));
    await bench.client.create(crds, definition.object);
    const large = widget(definition, "large", { spec: { text: randomBytes(1_050_000).toString("base64") } });
    const result = pack([{ value: large, source: "large.yaml" }], {
      name: "p",
      namespace: bench.namespace,
      serviceAccountName: bench.account,
    });
    expect(result.issues.map(({ message }) => message)).toEqual([
      expect.stringMatching(/Widget .*large: \d+ KiB exceed the object size limit of the API server/),
    ]);
    await store(bench, large);
    await bench.create(bench.plan("p", [{ name: "s", resources: [reference(large)] }]));
    await bench.installed("p");
    const made = await bench.client.get(definition.kind, { namespace: bench.namespace, name: "large" });
    expect(made).toMatchObject({ spec: large.spec });
  });

  test("[install-plan/29] 5,000 resources have a small status with exact counts", async () => {
    await using bench = await setUpWorkbench();
    const stages = Array.from({ length: 10 }, (_, stage) => ({
      name: `s${stage}`,
      concurrency: 16,
      resources: Array.from({ length: 500 }, (__, index) =>
        stage === 0 && index < 150 ? gated(`c-${stage}-${index}`) : configMap(`c-${stage}-${index}`, {}),
      ),
    }));
    await bench.create(bench.plan("p", stages));
    const { status } = await bench.until(
      "p",
      ({ counts }) => counts?.ready === 350 && counts.inProgress === 150,
      110_000,
    );
    expect(status?.counts).toMatchObject({ total: 5000, ready: 350, inProgress: 150, unknown: 4500 });
    expect(status?.states?.[0]).toBe(`${"P".repeat(150)}${"R".repeat(350)}`);
    expect(status?.details?.length).toBe(100);
    expect(JSON.stringify(status).length).toBeLessThan(200_000);
  });
});

function* zeros(mebibytes: number): Generator<Buffer> {
  const block = Buffer.alloc(mebibyte);
  for (let count = 0; count < mebibytes; count += 1) yield block;
}
