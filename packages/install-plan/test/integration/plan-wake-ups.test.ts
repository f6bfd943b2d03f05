import { installPlan } from "@quartermaster/api";
import { aConfigMap, eventDrivenSystem, eventually, makeIdentity } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { widget, widgets } from "../support/definitions.ts";
import { configMaps, crds } from "../support/kinds.ts";
import { configMap, gated } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { reference, store } from "../support/stored.ts";
import { allPermissions, setUpWorkbench, type Workbench } from "../support/workbench.ts";

/** A reason that waits: how it comes, and how it goes. The plan has the name of the row. */
interface Row {
  readonly reason: string;
  readonly comes: (bench: Workbench, name: string) => Promise<unknown>;
  readonly goes: (bench: Workbench, name: string) => Promise<unknown>;
  /** Default: the plan is installed. */
  readonly end?: "gone";
}

const stage = (...resources: readonly object[]): readonly object[] => [{ name: "s", resources }];
const held = { finalizers: ["example.org/hold"] };

async function withAccount(bench: Workbench, name: string, isPermitted: boolean): Promise<void> {
  const { api, adminAccess, namespace } = bench;
  const rules = isPermitted ? { rules: [allPermissions] } : {};
  await makeIdentity(api, adminAccess, { namespace, name: `account-${name}`, ...rules });
}

async function annotate(bench: Workbench, name: string, metadata: object): Promise<void> {
  const { client, namespace } = bench;
  await client.patch(configMaps, { namespace, name }, { patch: { kind: "merge", body: { metadata } } });
}

const createPlan = async (bench: Workbench, name: string, spec: object = {}): Promise<unknown> =>
  await bench.create(bench.plan(name, stage(configMap(`c-${name}`)), spec));

const rows: readonly Row[] = [
  {
    reason: "ServiceAccountMissing",
    comes: async (bench, name) => await createPlan(bench, name, { serviceAccountName: `account-${name}` }),
    goes: async (bench, name) => {
      await withAccount(bench, name, true);
    },
  },
  {
    reason: "PermissionsMissing",
    comes: async (bench, name) => {
      await withAccount(bench, name, false);
      await createPlan(bench, name, { serviceAccountName: `account-${name}` });
    },
    goes: async (bench, name) => {
      await withAccount(bench, name, true);
    },
  },
  {
    reason: "ManifestMissing",
    comes: async (bench, name) =>
      await bench.create(bench.plan(name, stage(reference(aConfigMap({ name: `c-${name}` }))))),
    goes: async (bench, name) => await store(bench, aConfigMap({ name: `c-${name}` })),
  },
  {
    reason: "KindMissing",
    comes: async (bench, name) => {
      const manifest = widget({ group: `${bench.namespace}.example.com` }, "w");
      await bench.create(bench.plan(name, stage({ manifest })));
    },
    goes: async (bench) => {
      const definition = widgets(`${bench.namespace}.example.com`);
      bench.use(removing(bench.client, crds, definition));
      await bench.client.create(crds, definition.object);
    },
  },
  {
    reason: "Collision",
    comes: async (bench, name) => {
      const { client, namespace } = bench;
      await client.create(configMaps, aConfigMap({ name: `c-${name}`, namespace }));
      await createPlan(bench, name);
    },
    goes: async ({ client, namespace }, name) => {
      await client.delete(configMaps, { namespace, name: `c-${name}` });
    },
  },
  {
    reason: "AwaitingApproval",
    comes: async (bench, name) => await createPlan(bench, name, { approval: "Manual" }),
    goes: async (bench, name) => {
      const { status } = await bench.read(name);
      const approvedPreview = status?.preview?.digest;
      await bench.patchPlan(name, { spec: { approved: true, approvedPreview } });
    },
  },
  {
    reason: "Paused",
    comes: async (bench, name) => await createPlan(bench, name, { paused: true }),
    goes: async (bench, name) => {
      await bench.patchPlan(name, { spec: { paused: false } });
    },
  },
  {
    reason: "WaitingForStage",
    comes: async (bench, name) => await bench.create(bench.plan(name, stage(gated(`c-${name}`)))),
    goes: async (bench, name) => {
      await bench.openGate(`c-${name}`);
    },
  },
  {
    reason: "DeletionBlocked",
    comes: async (bench, name) => {
      await createPlan(bench, name);
      await bench.installed(name);
      await annotate(bench, `c-${name}`, held);
      await bench.deletePlan(name);
    },
    goes: async (bench, name) => {
      await annotate(bench, `c-${name}`, { finalizers: null });
    },
    end: "gone",
  },
];

describe("a plan that waits comes back when the cause goes, under an operator without long timers", () => {
  let bench: Workbench;

  beforeAll(async () => {
    bench = await setUpWorkbench({ isOperating: false });
    await bench.operate({ system: eventDrivenSystem() });
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
  });

  const says = async (name: string, reason: string): Promise<void> => {
    await bench.until(
      name,
      ({ conditions = [] }) => conditions.some((each) => each.reason === reason),
      20_000,
    );
  };

  test.concurrent.each(rows)("$reason", async ({ reason, comes, goes, end }) => {
    const name = reason.toLowerCase();
    await comes(bench, name);
    await says(name, reason);
    await goes(bench, name);
    if (end !== "gone") {
      await bench.installed(name, 20_000);
      return;
    }
    const ref = { namespace: bench.namespace, name };
    await eventually(async () => (await bench.client.find(installPlan.kind, ref)) === undefined, {
      withinMs: 20_000,
    });
  });

  test("[install-plan/68] an edited field of ours is back by the event of the edit, which names the editor", async () => {
    await bench.create(bench.plan("edited", stage(configMap("edited", { a: "1" }))));
    await bench.installed("edited");
    const ref = { namespace: bench.namespace, name: "edited" };
    const patch = { kind: "merge", body: { data: { a: "changed" } } } as const;
    await bench.client.patch(configMaps, ref, { patch, fieldManager: "kubectl-edit" });
    await eventually(async () => (await bench.client.get(configMaps, ref)).data?.["a"] === "1", {
      withinMs: 20_000,
    });
    const reverted = await eventually(async () =>
      (await bench.events("edited")).find(({ reason }) => reason === "Reverted"),
    );
    expect(reverted.note).toContain("kubectl-edit");
  });

  test("[install-plan/77] a deleted object is back by the event of its deletion, and others are left alone", async () => {
    await bench.create(bench.plan("deleted", stage(configMap("deleted"), configMap("beside"))));
    await bench.installed("deleted");
    const position = await bench.audit.position();
    const ref = { namespace: bench.namespace, name: "deleted" };
    await bench.client.delete(configMaps, ref);
    await eventually(async () => (await bench.client.find(configMaps, ref)) !== undefined, {
      withinMs: 20_000,
    });
    await bench.installed("deleted");
    expect((await bench.writes(position)).map(({ name, verb }) => [verb, name])).toEqual([
      ["patch", "deleted"],
    ]);
  });
});
