import { describe, expect, onTestFinished, test } from "vitest";

import { Informer } from "../../src/informers/informer.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { mayMatch } from "../../src/object/parse-label-selector.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { configMaps } from "../support/kinds.ts";
import { bookmark, frame, ScriptedSource } from "../support/scripted-source.ts";

function anObject(name: string, resourceVersion: string, labels: Record<string, string> = {}): KubeObject {
  const metadata = { name, namespace: "n", resourceVersion, labels };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

describe("mayMatch", () => {
  test.each([
    { labelSelector: "app", want: true },
    { labelSelector: "none", want: false },
    { labelSelector: "!app", want: false },
    { labelSelector: "!none", want: true },
    { labelSelector: "app=web", want: true },
    { labelSelector: "app == web,tier = front", want: true },
    { labelSelector: "app=web,tier=back", want: false },
    { labelSelector: "app!=web", want: false },
    { labelSelector: "none!=web", want: true },
    { labelSelector: "app in (db, web)", want: true },
    { labelSelector: "app in (db),tier", want: false },
    { labelSelector: "app notin (db, web)", want: false },
    { labelSelector: "none notin (db)", want: true },
    { labelSelector: "constructor", want: false },
    { labelSelector: "size > 3", want: true },
    { labelSelector: "", want: true },
    { fieldSelector: "metadata.name=a", want: true },
    { fieldSelector: "metadata.name=b", want: false },
    { fieldSelector: "metadata.namespace!=n", want: false },
    { fieldSelector: "status.phase=Running", want: true },
  ])("$labelSelector$fieldSelector: $want", ({ want, ...selection }) => {
    expect(mayMatch(selection)(anObject("a", "1", { app: "web", tier: "front" }))).toBe(want);
  });
});

test("a write that a selected store will never be notified of does not show in it", async () => {
  const system = new VirtualSystem();
  const source = new ScriptedSource([
    {
      chunks: [
        frame("ADDED", anObject("a", "5", { app: "web" })),
        bookmark("7", "end"),
        frame("DELETED", anObject("a", "8")),
      ],
    },
  ]);
  const target = { kind: configMaps, labelSelector: "app=web" };
  const informer = new Informer({ target, view: {}, source, system, observer: {}, freeze: true });
  onTestFinished(async () => {
    await informer.stop();
  });
  informer.start();
  await system.settle();
  informer.noteWrite(anObject("a", "9"));
  expect(informer.store.list()).toEqual([]);
  informer.noteWrite(anObject("b", "10", { app: "web" }));
  expect(informer.store.list().map(({ metadata }) => metadata.name)).toEqual(["b"]);
});
