import type { InstallPlan } from "@quartermaster/api";
import { aConfigMap, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { claims, configMaps } from "../support/kinds.ts";
import { aClaim, configMap, gated, goAnnotation } from "../support/manifests.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

type Transformation = NonNullable<InstallPlan["spec"]["transformations"]>[number];

function transforming(
  from: Partial<Transformation["from"]>,
  to: Transformation["to"],
  more: object = {},
): object {
  const rule = { name: "rename", from: { apiVersion: "v1", kind: "ConfigMap", ...from }, to, ...more };
  return { transformations: [rule] };
}

const toNew = { resources: [{ stage: "s", kind: "ConfigMap", name: "new" }] };

async function make(
  bench: Workbench,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  await bench.client.create(configMaps, aConfigMap({ name, namespace: bench.namespace, labels }));
}

async function exists(bench: Workbench, name: string): Promise<boolean> {
  return (await bench.client.find(configMaps, { namespace: bench.namespace, name })) !== undefined;
}

describe("what the plan did not make gives way to what it makes", () => {
  test("[install-plan/97] the old one goes only when the new one is ready, and only if that was allowed", async () => {
    await using bench = await setUpWorkbench();
    await make(bench, "old");
    await bench.create(
      bench.plan(
        "refused",
        [{ name: "s", resources: [configMap("new")] }],
        transforming({ names: ["old"] }, toNew),
      ),
    );
    const { status } = await bench.until("refused", ({ phase }) => phase === "Invalid");
    expect(conditionOf(status, "Validated")).toMatchObject({ reason: "InvalidTransformation" });
    expect(await exists(bench, "new")).toBe(false);
    const position = await bench.audit.position();
    await bench.create(
      bench.plan(
        "allowed",
        [{ name: "s", wait: "Applied", resources: [gated("new")] }],
        transforming({ names: ["old"], allowUnowned: true }, toNew),
      ),
    );
    await bench.until("allowed", ({ phase }) => phase === "Finishing");
    expect(await exists(bench, "old")).toBe(true);
    await bench.client.patch(
      configMaps,
      { namespace: bench.namespace, name: "new" },
      {
        patch: { kind: "merge", body: { metadata: { annotations: { [goAnnotation]: "yes" } } } },
        fieldManager: "tests",
      },
    );
    await eventually(async () => !(await exists(bench, "old")));
    const verbs = (await bench.writes(position)).map(({ verb, name }) => `${verb} ${name ?? ""}`);
    expect(verbs.at(-1)).toBe("delete old");
  });

  test("[install-plan/98] [security/14] more matches than allowed, or a selector that means everything, stop the plan", async () => {
    await using bench = await setUpWorkbench();
    for (let index = 0; index < 60; index += 1) await make(bench, `old-${index}`, { app: "old" });
    const position = await bench.audit.position();
    await bench.create(
      bench.plan(
        "many",
        [{ name: "s", resources: [configMap("new")] }],
        transforming({ labelSelector: "app=old", allowUnowned: true }, toNew),
      ),
    );
    await bench.until("many", ({ phase }) => phase === "Invalid");
    expect(await bench.writes(position)).toEqual([]);
    const empty = bench.plan(
      "all",
      [{ name: "s", resources: [configMap("new")] }],
      transforming({ labelSelector: "" }, toNew),
    );
    await expect(bench.create(empty)).rejects.toThrow(/labelSelector/);
  });

  test("[install-plan/99,100] no match is nothing to do; a match that the plan names is taken over in place", async () => {
    await using bench = await setUpWorkbench();
    await make(bench, "both", { app: "shop" });
    const uid = (await bench.client.get(configMaps, { namespace: bench.namespace, name: "both" })).metadata
      .uid;
    const resources = [configMap("both", { a: "1" }, { lifecycle: { adoption: "IfUnowned" } })];
    await bench.create(
      bench.plan(
        "p",
        [{ name: "s", resources }],
        transforming(
          { labelSelector: "app=shop" },
          { resources: [{ stage: "s", kind: "ConfigMap", name: "both" }] },
        ),
      ),
    );
    await bench.installed("p");
    expect(
      (await bench.client.get(configMaps, { namespace: bench.namespace, name: "both" })).metadata.uid,
    ).toBe(uid);
    await bench.create(
      bench.plan(
        "q",
        [{ name: "s", resources: [configMap("new")] }],
        transforming({ labelSelector: "app=nothing" }, toNew),
      ),
    );
    await bench.installed("q");
  });

  test("[install-plan/101] targets that the plan does not have are an error before anything is queried", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(
      bench.plan(
        "p",
        [{ name: "s", resources: [configMap("other")] }],
        transforming({ names: ["old"] }, toNew),
      ),
    );
    const { status } = await bench.until("p", ({ phase }) => phase === "Invalid");
    expect(conditionOf(status, "Validated")?.reason).toBe("InvalidTransformation");
  });

  test("an exclusive one is deleted before the first object is made", async () => {
    await using bench = await setUpWorkbench();
    await make(bench, "old");
    const position = await bench.audit.position();
    await bench.create(
      bench.plan(
        "p",
        [{ name: "s", resources: [configMap("new")] }],
        transforming({ names: ["old"], allowUnowned: true }, toNew, { strategy: "DeleteBeforeCreate" }),
      ),
    );
    await bench.installed("p");
    expect((await bench.writes(position)).map(({ verb, name }) => `${verb} ${name ?? ""}`)).toEqual([
      "delete old",
      "patch new",
    ]);
  });

  test("names and a selector narrow each other", async () => {
    await using bench = await setUpWorkbench();
    await make(bench, "old", { go: "yes" });
    await make(bench, "kept", { go: "no" });
    await make(bench, "other", { go: "yes" });
    const from = { names: ["old", "kept"], labelSelector: "go=yes", allowUnowned: true };
    const stages = [{ name: "s", resources: [configMap("new")] }];
    await bench.create(bench.plan("p", stages, transforming(from, toNew)));
    await bench.installed("p");
    expect(
      await Promise.all(["old", "kept", "other"].map(async (name) => await exists(bench, name))),
    ).toEqual([false, true, true]);
  });

  test("a volume claim stays, with a word about it, unless the plan says that its data may go", async () => {
    await using bench = await setUpWorkbench();
    await bench.client.create(claims, aClaim("old", bench.namespace));
    const from = { kind: "PersistentVolumeClaim", names: ["old"], allowUnowned: true };
    const stages = [{ name: "s", resources: [configMap("new")] }];
    await bench.create(bench.plan("careful", stages, transforming(from, toNew)));
    const { status } = await bench.installed("careful");
    expect(status?.preview?.delete).toBe(0);
    const { metadata } = await bench.client.get(claims, { namespace: bench.namespace, name: "old" });
    expect(metadata.deletionTimestamp).toBeUndefined();
    await eventually(async () =>
      (await bench.events("careful")).some(
        ({ reason, note }) => reason === "Protected" && note.includes("it contains data"),
      ),
    );
    const allowing = { lifecycle: { protectData: false }, replaces: { plans: [{ name: "careful" }] } };
    await bench.create(bench.plan("careless", stages, { ...transforming(from, toNew), ...allowing }));
    await bench.installed("careless");
    await eventually(
      async () =>
        (await bench.client.find(claims, { namespace: bench.namespace, name: "old" })) === undefined,
    );
  });
});
