import { type AuditEntry, eventually, joinSharedCluster, makeIdentity } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { defineController } from "../../src/controller/define-controller.ts";
import type { Manager } from "../../src/manager/manager.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { reasons } from "../../src/reasons.ts";
import { connect } from "../support/connect.ts";
import { type Secret, secrets } from "../support/kinds.ts";
import { probeRecipe } from "../support/probe-recipe.ts";
import { aWidget, conditionOf, type Widget } from "../support/widgets.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

function aSecret(namespace: string, name: string, stringData: Readonly<Record<string, string>> = {}): Secret {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData };
}

function secretWatches(manager: Manager): number {
  return manager.health().informers.filter(({ kind }) => kind === "Secret").length;
}

/** What the operator requested, without the times out of which the server's answers are chosen. */
function targetsOf(entries: readonly AuditEntry[]): readonly (string | null)[] {
  return entries.map(({ path }) => new URL(path, "https://server").searchParams.get("fieldSelector"));
}

/** A controller whose widgets follow the Secret in `spec.text`; what each reconcile saw, as `widget:version of the Secret`. */
async function manageFollowers(bench: Workbench): Promise<{ manager: Manager; seen: string[] }> {
  const seen: string[] = [];
  const recipe = probeRecipe<Widget>(({ metadata: { name }, spec }, ctx) => {
    const found = spec.text === undefined ? undefined : ctx.follow(secrets, { name: spec.text });
    seen.push(`${name}:${found?.data?.["key"] ?? "-"}`);
    return undefined;
  });
  const { namespace, widgets } = bench;
  const manager = await bench.manage([defineController(widgets, { recipe, namespace })]);
  return { manager, seen };
}

describe("a followed Secret", () => {
  test("brings its followers back over one watch of its name, which ends with the last of them", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets, audit, operator } = bench;
    const { manager, seen } = await manageFollowers(bench);
    const position = await audit.position();
    const requests = async (): Promise<readonly AuditEntry[]> =>
      await audit.since(position, { user: operator, resource: "secrets" });
    const sees = async (...want: readonly string[]): Promise<void> => {
      await eventually((see) => want.every((one) => see(seen).includes(one)));
      seen.length = 0;
    };
    await client.create(secrets, aSecret(namespace, "other"));
    await client.create(widgets, aWidget(widgets, { name: "a", namespace }, { text: "s" }));
    await sees("a:-");
    await client.create(secrets, aSecret(namespace, "s", { key: "one" }));
    await sees("a:b25l");
    await client.create(widgets, aWidget(widgets, { name: "b", namespace }, { text: "s" }));
    await sees("b:b25l");
    await client.apply(secrets, aSecret(namespace, "s", { key: "two" }), {
      fieldManager: "test",
      force: true,
    });
    await sees("a:dHdv", "b:dHdv");
    expect(secretWatches(manager)).toBe(1);
    const opened = await requests();
    expect(opened.map(({ verb }) => verb)).toEqual(["watch"]);
    expect(targetsOf(opened)).toEqual(["metadata.name=s"]);

    await client.delete(widgets, { name: "a", namespace });
    await client.patch(widgets, { name: "b", namespace }, { patch: toNothing });
    await sees("b:-");
    await eventually((see) => see(secretWatches(manager)) === 0);
    await client.delete(secrets, { name: "s", namespace });
    await client.patch(widgets, { name: "b", namespace }, { patch: { kind: "merge", body: again } });
    await sees("b:-");
    expect(await requests()).toHaveLength(1);
  });

  test("is kept only as far as the projection keeps it", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const project = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
      apiVersion,
      kind,
      metadata,
    });
    const seen: unknown[] = [];
    const recipe = probeRecipe<Widget>((_, ctx) => {
      const view = { projection: { name: "no data", project } };
      seen.push(ctx.follow(secrets, { name: "s" }, view));
      return undefined;
    });
    await client.create(secrets, aSecret(namespace, "s", { key: "value" }));
    await bench.manage([defineController(widgets, { recipe, namespace })]);
    await client.create(widgets, aWidget(widgets, { name: "a", namespace }));
    await eventually((see) => see(seen).length > 0);
    expect(Object.keys(seen[0] as object)).toEqual(["apiVersion", "kind", "metadata"]);
  });

  test("beyond the limit is refused with a reason, and followed once a watch is free", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const recipe = probeRecipe<Widget>(({ spec }, ctx) => {
      ctx.follow(secrets, { name: String(spec.text) });
      return undefined;
    });
    const manager = await bench.manage([defineController(widgets, { recipe, namespace, followLimit: 1 })]);
    const readyOf = async (name: string): Promise<string | undefined> =>
      conditionOf(await client.get(widgets, { name, namespace }), "Ready")?.reason;
    await client.create(widgets, aWidget(widgets, { name: "a", namespace }, { text: "one" }));
    await eventually(async (see) => see(await readyOf("a")) === reasons.settled);
    await client.create(widgets, aWidget(widgets, { name: "b", namespace }, { text: "two" }));
    await eventually(async (see) => see(await readyOf("b")) === reasons.followLimit);
    expect(secretWatches(manager)).toBe(1);
    await client.delete(widgets, { name: "a", namespace });
    await eventually(async (see) => see(await readyOf("b")) === reasons.settled);
    expect(secretWatches(manager)).toBe(1);
  });

  test("[security/113] a namespace has a limit of its own, with its own reason: others are not kept from following", async () => {
    await using bench = await setUpWorkbench();
    await using other = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const recipe = probeRecipe<Widget>(({ spec, metadata }, ctx) => {
      const target = { name: String(spec.text), namespace: metadata.namespace ?? "" };
      ctx.follow(secrets, target);
      return undefined;
    });
    const limits = { followLimit: 4, namespaceFollowLimit: 2 };
    await bench.manage([defineController(widgets, { recipe, ...limits })]);
    const reasonOf = async (name: string, at = namespace): Promise<string | undefined> =>
      conditionOf(await client.get(widgets, { name, namespace: at }), "Ready")?.reason;
    for (const name of ["a", "b", "c"])
      await client.create(widgets, aWidget(widgets, { name, namespace }, { text: name }));
    const reasonsOf = async (): Promise<readonly string[]> =>
      await Promise.all(["a", "b", "c"].map(async (name) => (await reasonOf(name)) ?? ""));
    const want = [reasons.namespaceFollowLimit, reasons.settled, reasons.settled].join();
    await eventually(async (see) => see((await reasonsOf()).toSorted().join()) === want);
    await client.create(widgets, aWidget(widgets, { name: "d", namespace: other.namespace }, { text: "d" }));
    await eventually(async (see) => see(await reasonOf("d", other.namespace)) === reasons.settled);
  });

  test("needs permission for this one name only, and is reported without it", async () => {
    await using bench = await setUpWorkbench();
    using cluster = joinSharedCluster();
    const { client, namespace, widgets } = bench;
    const ours = { apiGroups: [widgets.group], resources: ["widgets", "widgets/status"], verbs: ["*"] };
    const one = { apiGroups: [""], resources: ["secrets"], verbs: ["watch"], resourceNames: ["s"] };
    const rules = [ours, one];
    await using limited = connect(await makeIdentity(cluster.api, cluster.admin, { namespace, rules }));
    const recipe = probeRecipe<Widget>(({ spec }, ctx) => {
      ctx.follow(secrets, { name: String(spec.text) });
      return undefined;
    });
    const { transport } = limited;
    await bench.manage([defineController(widgets, { recipe, namespace })], { transport });
    for (const [text, want] of [
      ["s", reasons.settled],
      ["t", reasons.forbidden],
    ] as const) {
      await client.create(widgets, aWidget(widgets, { name: text, namespace }, { text }));
      await eventually(async (see) => {
        const widget = await client.get(widgets, { name: text, namespace });
        return see(conditionOf(widget, "Ready")?.reason) === want;
      });
    }
  });
});

const toNothing = { kind: "merge", body: { spec: { text: null } } } as const;
const again = { spec: { more: "text" } };
