import { type InstallPlan, resourceManifest } from "@quartermaster/api";
import { aConfigMap, aSecret, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { coreRule } from "../support/grants.ts";
import { secrets } from "../support/kinds.ts";
import { bystanderInstalls, letMalloryIn } from "../support/mallory.ts";
import { configMap } from "../support/manifests.ts";
import { reference, store } from "../support/stored.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

const canary = "canary-7f3a";
const toNew = { resources: [{ stage: "s", kind: "ConfigMap", name: "new" }] };
const stages = [{ name: "s", resources: [configMap("new")] }];

/** A plan's transformation of everything that the selection says. */
function selecting(from: object): object {
  return { transformations: [{ name: "t", from: { apiVersion: "v1", ...from }, to: toNew }] };
}

/** Everything that people can read of a plan, except for what its author wrote. */
async function shown(bench: Workbench, { metadata, status }: InstallPlan): Promise<string> {
  return JSON.stringify([status, await bench.events(metadata.name)]);
}

describe("what an author steers is read as the plan's account", () => {
  test("[security/88] a selector of a powerless account says neither which Secrets there are nor whether there are any", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace } = bench;
    const mallory = await letMalloryIn(bench);
    const metadata = { name: canary, namespace, labels: { level: "top" } };
    await client.create(secrets, { ...aSecret({ name: canary, values: { a: "b" } }), metadata });
    const position = await bench.audit.position();
    const selections = {
      hit: { labelSelector: "level=top" },
      miss: { labelSelector: "level=none" },
      field: { fieldSelector: `metadata.name=${canary}` },
    };
    const missing = [{ verb: "list", group: "", resource: "secrets", namespace }];
    for (const [name, selection] of Object.entries(selections)) {
      await mallory.create(mallory.plan(name, stages, selecting({ kind: "Secret", ...selection })));
      const plan = await bench.until(name, ({ phase }) => phase === "Forbidden" || phase === "Invalid");
      expect(await shown(bench, plan)).not.toContain(canary);
      expect(plan.status?.permissions?.missing).toEqual(expect.arrayContaining(missing));
    }
    await bystanderInstalls(bench);
    const reads = await bench.audit.since(position, { user: bench.operator, resource: "secrets", namespace });
    expect(reads.filter(({ impersonatedUser }) => impersonatedUser === undefined)).toEqual([]);
  });

  test("[security/88] a ResourceManifest does not tell what is in a Secret, and a plan reads it as its account", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace } = bench;
    const mallory = await letMalloryIn(bench);
    const held = aConfigMap({ name: "held", data: { a: canary } });
    const data = { token: Buffer.from(JSON.stringify(held)).toString("base64") };
    await client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "victim", namespace },
      immutable: true,
      data,
    });
    const refs = {
      guessed: { name: "victim", key: "token" },
      wrong: { name: "victim", key: "other" },
      absent: { name: "nothing", key: "token" },
    };
    const found: unknown[] = [];
    const stored = await store(bench, held, { secretKeyRef: refs.guessed });
    for (const [name, secretKeyRef] of Object.entries(refs)) {
      const manifest = {
        apiVersion: stored.apiVersion,
        kind: stored.kind,
        metadata: { name, namespace },
        spec: { ...stored.spec, secretKeyRef },
      };
      await mallory.client.create(resourceManifest.kind, manifest);
      const { status } = await eventually(async () => {
        const now = await client.get(resourceManifest.kind, { namespace, name });
        return now.status?.observedGeneration === undefined ? undefined : now;
      });
      found.push([status?.valid, status?.objectRef]);
      const manifestRef = { name, sha256: stored.spec.sha256, object: { ...held, ...held.metadata } };
      const { apiVersion, kind } = held;
      const object = { apiVersion, kind, name: held.metadata.name };
      await mallory.create(
        mallory.plan(name, [{ name: "s", resources: [{ manifestRef: { ...manifestRef, object } }] }]),
      );
      const plan = await bench.until(name, ({ message }) => message !== undefined);
      expect(plan.status?.message).toContain(`may not get Secret ${secretKeyRef.name}`);
    }
    expect(found).toEqual(found.map(() => [undefined, undefined]));
    await bystanderInstalls(bench);
  });

  test("[security/88] what another plan's account read from a Secret is not handed to an account that may not", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace } = bench;
    const mallory = await letMalloryIn(bench, {
      accountRules: [coreRule("configmaps", "create", "get", "patch", "delete")],
    });
    const held = aConfigMap({ name: "held", data: { a: canary } });
    await client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "victim", namespace },
      immutable: true,
      data: { token: Buffer.from(JSON.stringify(held)).toString("base64") },
    });
    await store(bench, held, { secretKeyRef: { name: "victim", key: "token" } });
    const holding = [{ name: "s", resources: [reference(held)] }];
    await bench.create(bench.plan("theirs", holding));
    await bench.installed("theirs");
    await mallory.create(mallory.plan("copycat", holding));
    const { status } = await bench.until("copycat", ({ message }) => message !== undefined);
    expect(status?.message).toContain("may not get Secret victim");
  });
});
