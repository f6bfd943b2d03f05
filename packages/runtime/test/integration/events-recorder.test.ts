import { eventually, makeIdentity, joinSharedCluster } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { defineController } from "../../src/controller/define-controller.ts";
import { eventFor, eventKind, type EventObject } from "../../src/events/event-object.ts";
import { EventRecorder } from "../../src/events/event-recorder.ts";
import { silentLog } from "../../src/reconcile/log.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "../support/connect.ts";
import { probeRecipe } from "../support/probe-recipe.ts";
import { aWidget, conditionOf, type Widget } from "../support/widgets.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const happened = { type: "Normal", reason: "Happened", action: "Look", note: "It happened again." } as const;

function chatty(times: number): ReturnType<typeof probeRecipe<Widget>> {
  return probeRecipe<Widget>((_widget, ctx) => {
    for (let time = 0; time < times; time += 1) ctx.events.record(happened);
    return undefined;
  });
}

describe("[runtime/RT-22] events", () => {
  test("1,000 equal ones become one with a series", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const manager = await bench.manage([defineController(widgets, { recipe: chatty(1_000), namespace })]);
    await client.create(widgets, aWidget(widgets, { name: "chatty", namespace }));
    const observation = async (): Promise<readonly unknown[]> =>
      (await client.listPage(eventKind, { namespace })).items;
    await eventually(
      async (see) => (see(await observation())[0] as { series?: unknown } | undefined)?.series !== undefined,
    );
    await manager.stop();
    expect(await observation()).toEqual([
      expect.objectContaining({
        ...happened,
        regarding: expect.objectContaining({ kind: "Widget", name: "chatty", namespace }) as unknown,
        reportingController: "quartermaster",
        series: expect.objectContaining({ count: 1_000 }) as unknown,
      }),
    ]);
  });

  test("a series continues in a new event when another client deleted the first", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace } = bench;
    const reporter = { controller: "quartermaster", instance: "q" };
    const recorder = new EventRecorder({ client, system: realSystem(), log: silentLog, reporter });
    const occurrence = { ...happened, subject: { apiVersion: "v1", kind: "Thing", name: "s", namespace } };
    const observation = async (): Promise<readonly EventObject[]> =>
      (await client.listPage(eventKind, { namespace })).items;
    recorder.record(occurrence);
    const [event] = await eventually(async (see) => {
      const events = see(await observation());
      return events.length === 1 ? events : undefined;
    });
    await client.delete(eventKind, { name: event?.metadata.name ?? "", namespace });
    recorder.record(occurrence);
    await eventually(async (see) => see(await observation())[0]?.series?.count === 2);
    await recorder.stop(AbortSignal.timeout(5_000));
  });

  test.each([
    { name: "a note longer than the server takes", note: "a".repeat(2_000) },
    { name: "one that is long in bytes only", note: "ü".repeat(600) },
    { name: "one whose last character has two halves", note: `${"a".repeat(1_020)}😀😀` },
    { name: "a reason that is long in bytes only", reason: "Ü".repeat(100) },
    { name: "a name that is cut at a dash", subject: `${"a".repeat(199)}-${"b".repeat(20)}` },
    { name: "a name that no event may have", subject: "system:node-Reader" },
  ])("the server takes $name", async ({ note = "n", reason = "Happened", subject = "s" }) => {
    await using bench = await setUpWorkbench();
    const { client, namespace } = bench;
    const event = eventFor(
      { ...happened, note, reason, subject: { apiVersion: "v1", kind: "Thing", name: subject, namespace } },
      { controller: "quartermaster", instance: "q" },
      { suffix: "0a1b", wallMs: 0 },
    );
    const made = await client.create(eventKind, event);
    expect(made).toMatchObject({ note: event.note, regarding: { name: subject } });
    expect(note.startsWith(made.note.replace("…", ""))).toBe(true);
  });

  test("a refused one is dropped and counted, and the reconcile succeeds", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    using cluster = joinSharedCluster();
    const all = ["get", "list", "watch", "patch", "update"];
    const identity = await makeIdentity(cluster.api, cluster.admin, {
      namespace,
      rules: [{ apiGroups: [widgets.group], resources: ["widgets", "widgets/status"], verbs: all }],
    });
    await using muted = connect(identity);
    const dropped: string[] = [];
    await bench.manage([defineController(widgets, { recipe: chatty(1), namespace })], {
      transport: muted.transport,
      telemetry: { eventDropped: ({ why }) => dropped.push(why) },
    });
    await client.create(widgets, aWidget(widgets, { name: "muted", namespace }));
    await eventually(async () => {
      const widget = await client.get(widgets, { name: "muted", namespace });
      return conditionOf(widget, "Ready")?.status === "True";
    });
    await eventually(() => dropped.length > 0);
    expect(dropped).toEqual(["refused"]);
  });
});
