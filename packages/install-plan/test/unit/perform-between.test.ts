import { resourceManifest, type ResourceManifest } from "@quartermaster/api";
import { ApiError, classify, type KubeObject } from "@quartermaster/runtime";
import { configMaps } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import type { PlanAction } from "../../src/plan-action.ts";
import { aPerformBench, type PerformBench } from "../support/perform-bench.ts";
import { aPlan } from "../support/plans.ts";
import { aView } from "../support/seen.ts";

const plan = aPlan("p");
const { member: plain } = aView("one");

type WritingKind = Exclude<
  PlanAction["kind"],
  "warn" | "reportStage" | "forgetWriteFailures" | "createJob" | "apply"
>;

interface Written {
  readonly object: KubeObject;
  readonly action: (live: KubeObject) => PlanAction;
  /** The plan that acts (default: `p`). */
  readonly planOf?: (live: KubeObject) => typeof plan;
  /** What becomes of an object that another client edited: it is left alone, or only what the action is about goes. */
  readonly edited?: "leftAlone" | "written";
  readonly beforehand?: (bench: PerformBench) => void;
}

const configMap: KubeObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "one", namespace: "ns", labels: { app: "mine" } },
};
const job: KubeObject = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "j", namespace: "ns" } };
const manifest: KubeObject = {
  apiVersion: "install.quartermaster.dev/v1alpha1",
  kind: resourceManifest.kind.kind,
  metadata: { name: "m", namespace: "ns" },
};
const { uid: _uid, ...oldMetadata } = aPlan("old").metadata;
const oldPlan: KubeObject = { ...aPlan("old", { status: { phase: "Superseded" } }), metadata: oldMetadata };

function applyOver(live: KubeObject, more: object = {}, lifecycle: object = {}): PlanAction {
  const member = {
    ...plain,
    manifest: { ...plain.manifest, data: { a: "1" } },
    lifecycle: { ...plain.lifecycle, ...lifecycle },
  };
  const view = { ...aView("one"), member, kind: configMaps, live, ...more };
  return { kind: "apply", view, isRepair: true };
}

const addition = { drift: { paths: [], additions: ["/data/x"] } };
const strict = { revert: "Strict", disallowedManagers: ["other", "another"] } as const;

const immutable = new ApiError("apply: 422 spec is immutable", {
  class: "invalid",
  causes: [{ field: "data", reason: "FieldValueInvalid", message: "field is immutable" }],
  mayHaveActed: false,
});

/** Every action that changes or takes away an object that is there. */
const written: Readonly<Record<WritingKind | "apply" | "applyStrict", Written>> = {
  delete: {
    object: configMap,
    action: (live) => ({
      kind: "delete",
      target: { kind: configMaps, live },
      propagation: "Background",
    }),
  },
  release: {
    object: configMap,
    action: (live) => ({ kind: "release", target: { kind: configMaps, live } }),
  },
  deleteJob: {
    object: job,
    action: (live) => ({
      kind: "deleteJob",
      job: { jobName: "j", live },
    }),
  },
  claimManifest: {
    object: manifest,
    action: (live) => ({ kind: "claimManifest", manifest: live as ResourceManifest }),
  },
  forgetPlan: { object: oldPlan, action: (live) => ({ kind: "forgetPlan", past: live as typeof plan }) },
  dropProgress: {
    object: oldPlan,
    action: () => ({ kind: "dropProgress" }),
    planOf: (live) => live as typeof plan,
    edited: "written",
  },
  apply: { object: configMap, action: (live) => applyOver(live) },
  applyStrict: { object: configMap, action: (live) => applyOver(live, addition, strict) },
};

const rows = Object.entries(written).map(([name, row]) => ({ name, ...row }));

/** The action upon the object as it is now, to be carried out later. */
function decided({ object, action, planOf }: Written, bench: PerformBench): () => Promise<unknown> {
  const live = liveOf(bench, object);
  return async () => await bench.carryOut(action(live), planOf?.(live));
}

/** The writes of the action when no one interferes. */
async function undisturbed(row: Written): Promise<readonly string[]> {
  const bench = aPerformBench([row.object]);
  expect(await decided(row, bench)()).toBeUndefined();
  return bench.api.writes.map(({ verb, object: name }) => `${verb} ${name}`);
}

function liveOf({ api }: PerformBench, { kind, metadata }: KubeObject): KubeObject {
  const live = api.find(kind, metadata);
  if (live === undefined) throw new Error("no such object");
  return live;
}

/** Another client's edit; it must be there afterwards. */
function edited(live: KubeObject): KubeObject {
  return { ...live, metadata: { ...live.metadata, annotations: { edited: "by another client" } } };
}

/** Undefined when nothing was thrown. */
function classOf(error: unknown): string | undefined {
  return error === undefined ? undefined : classify(error);
}

function numberOf(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

describe("every write of a plan, when another client acts just before it", () => {
  test.each(rows)("$name leaves an object of another client under the same name alone", async (row) => {
    for (const at of numberOf((await undisturbed(row)).length)) {
      const bench = aPerformBench([row.object]);
      const carryOut = decided(row, bench);
      const other = { ...row.object, metadata: { ...row.object.metadata, uid: "another" } };
      bench.api.beforeWrite = (_write, number) => {
        if (number === at) bench.api.put(other);
      };
      const error = await carryOut();
      expect([undefined, "conflict"]).toContain(classOf(error));
      expect(liveOf(bench, row.object), `before write ${at}`).toMatchObject(other);
      expect(Object.keys(liveOf(bench, row.object).metadata.labels ?? {})).toEqual(
        Object.keys(row.object.metadata.labels ?? {}),
      );
    }
  });

  test.each(rows)("$name makes nothing out of an object that no longer exists", async (row) => {
    for (const at of numberOf((await undisturbed(row)).length)) {
      const bench = aPerformBench([row.object]);
      const carryOut = decided(row, bench);
      bench.api.beforeWrite = (_write, number) => {
        if (number === at) bench.api.remove(row.object);
      };
      const error = await carryOut();
      expect([undefined, "conflict", "notFound"]).toContain(classOf(error));
      expect(bench.api.objects, `before write ${at}`).toEqual([]);
    }
  });

  test.each(rows)("$name never undoes an edit that it has not seen", async (row) => {
    for (const at of numberOf((await undisturbed(row)).length)) {
      const bench = aPerformBench([row.object]);
      const carryOut = decided(row, bench);
      let theirs: KubeObject | undefined;
      bench.api.beforeWrite = (_write, number) => {
        if (number === at) theirs = bench.api.put(edited(liveOf(bench, row.object)));
      };
      await carryOut();
      const found = liveOf(bench, row.object);
      expect(found.metadata.annotations?.["edited"], `before write ${at}`).toBe("by another client");
      expect(found).toEqual(row.edited === "written" ? found : theirs);
    }
  });

  test("an object that has to be made again stays when it has changed, or is another one, by then", async () => {
    const others = {
      edited: (live: KubeObject) => edited(live),
      recreated: () => ({ ...configMap, metadata: { ...configMap.metadata, uid: "another" } }),
      none: () => undefined,
    };
    for (const [act, otherOf] of Object.entries(others)) {
      const bench = aPerformBench([configMap]);
      const action = applyOver(liveOf(bench, configMap), {}, { onImmutable: "Recreate" });
      bench.api.beforeWrite = ({ verb }) => {
        if (verb === "apply") throw immutable;
        const other = otherOf(liveOf(bench, configMap));
        if (other !== undefined) bench.api.put(other);
      };
      expect(await bench.carryOut(action), act).toBeUndefined();
      expect(bench.api.objects.length, act).toBe(act === "none" ? 0 : 1);
    }
  });

  test("an object that has to be made again stays while the server refuses the new one", async () => {
    const bench = aPerformBench([configMap]);
    const action = applyOver(liveOf(bench, configMap), {}, { onImmutable: "Recreate" });
    bench.api.beforeWrite = ({ verb }) => {
      if (verb === "apply") throw immutable;
    };
    bench.api.beforeDryRun = () => {
      throw new ApiError("create: 422 refused", { class: "invalid", mayHaveActed: false });
    };
    await bench.carryOut(action);
    expect(bench.api.writes.map(({ verb }) => verb)).not.toContain("delete");
    expect(bench.api.objects).toHaveLength(1);
  });

  test("an object that came between look and write is given back, and not made again once it no longer exists", async () => {
    const absent = {
      ...applyOver(configMap, { ownership: { kind: "absent" } }),
      view: { ...aView("one"), kind: configMaps, live: undefined, ownership: { kind: "absent" } },
    } as unknown as PlanAction;
    const bench = aPerformBench();
    bench.api.beforeWrite = (_write, number) => {
      if (number === 1) bench.api.put(configMap);
      if (number === 2) bench.api.remove(configMap);
    };
    expect(await bench.carryOut(absent)).toBeUndefined();
    expect(bench.api.writes.map(({ verb, options }) => `${verb} ${String(options.force)}`)).toEqual([
      "apply false",
      "apply false",
    ]);
    expect(bench.api.objects).toEqual([]);
    expect(bench.events).toEqual([]);
  });

  test("two plans that claim a manifest at the same time both own it in the end", async () => {
    const bench = aPerformBench([manifest]);
    const claim = async (live: KubeObject, name: string): Promise<unknown> => {
      const action = { kind: "claimManifest", manifest: live as ResourceManifest } as const;
      return await bench.carryOut(action, aPlan(name));
    };
    const seen = liveOf(bench, manifest);
    expect(await claim(seen, "one")).toBeUndefined();
    expect(classify(await claim(seen, "two"))).toBe("conflict");
    await claim(liveOf(bench, manifest), "two");
    const owners = liveOf(bench, manifest).metadata.ownerReferences ?? [];
    expect(owners.map(({ name, uid }) => `${name} ${uid}`)).toEqual(["one uid-one", "two uid-two"]);
  });
});

describe("every write of a plan names the object that it means", () => {
  const both = ["resourceVersion", "uid"];
  const names: Readonly<Record<string, readonly string[]>> = {
    // Every version is of one object only.
    claimManifest: ["resourceVersion"],
  };
  test.each(rows)("$name", async (row) => {
    const bench = aPerformBench([row.object]);
    const live = liveOf(bench, row.object);
    await decided(row, bench)();
    const [first] = bench.api.writes;
    const { metadata } = { metadata: {}, ...(first?.body as object | undefined) };
    const { uid, resourceVersion }: KubeObject["metadata"] = {
      name: "",
      ...(first?.verb === "delete" ? first.options.preconditions : metadata),
    } as KubeObject["metadata"];
    const output = { uid, resourceVersion };
    const wanted = names[row.name] ?? both;
    for (const field of ["uid", "resourceVersion"] as const)
      expect(output[field], field).toBe(wanted.includes(field) ? live.metadata[field] : undefined);
  });
});

describe("who writes", () => {
  const operator = undefined;
  const account = "system:serviceaccount:ns:installer";
  const users = {
    delete: account,
    release: account,
    deleteJob: account,
    apply: account,
    applyStrict: account,
    claimManifest: operator,
    forgetPlan: operator,
    dropProgress: operator,
  };
  test.each(rows)("$name", async (row) => {
    const bench = aPerformBench([row.object]);
    await decided(row, bench)();
    const found = new Set(bench.api.writes.map(({ user }) => user));
    expect([...found]).toEqual([users[row.name as keyof typeof users]]);
  });
});

describe("fields that Strict takes over from others", () => {
  const by = (manager: string, key: string): object => ({
    manager,
    operation: "Update",
    fieldsV1: { "f:data": { [`f:${key}`]: {} } },
  });
  test.each([1, 2, 3, 4])("of %i managers become ours before the apply removes them", async (count) => {
    const managers = ["other", "another", "third", "fourth"].slice(0, count);
    const managedFields = [by("kept", "k"), ...managers.map((manager, at) => by(manager, `x${at}`))];
    const bench = aPerformBench([{ ...configMap, metadata: { ...configMap.metadata, managedFields } }]);
    await bench.carryOut(
      applyOver(liveOf(bench, configMap), addition, { ...strict, disallowedManagers: managers }),
    );
    const [first, second] = bench.api.writes;
    const body = first?.body as { readonly metadata: { readonly managedFields: readonly KubeEntry[] } };
    const ours = body.metadata.managedFields.find(({ manager }) => manager === "quartermaster");
    expect(body.metadata.managedFields.map(({ manager }) => manager)).toEqual(["kept", "quartermaster"]);
    expect(Object.keys(ours?.fieldsV1["f:data"] ?? {})).toEqual(managers.map((_, at) => `f:x${at}`));
    expect([first?.verb, second?.verb]).toEqual(["patch", "apply"]);
  });
});

interface KubeEntry {
  readonly manager: string;
  readonly fieldsV1: Readonly<Record<string, object>>;
}
