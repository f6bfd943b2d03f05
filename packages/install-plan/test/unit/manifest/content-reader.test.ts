import { gzipSync } from "node:zlib";

import type { InstallPlan, ResourceManifest } from "@quartermaster/api";
import { type Context, digestOf } from "@quartermaster/runtime";
import { aConfigMap } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { ContentReader } from "../../../src/manifest/content-reader.ts";
import { aPlan } from "../../support/plans.ts";
import { reference } from "../../support/stored.ts";

const mebibyte = 2 ** 20;
const objects = ["a", "b", "c"].map((name) => aConfigMap({ name, data: { text: "x".repeat(mebibyte) } }));

function manifestOf(object: (typeof objects)[number]): ResourceManifest {
  const data = gzipSync(JSON.stringify(object)).toString("base64");
  return {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "ResourceManifest",
    metadata: { name: object.metadata.name, namespace: "ns", uid: `uid-of-${object.metadata.name}` },
    spec: { sha256: digestOf(object), data, encoding: "gzip" },
  };
}

const manifests = new Map(objects.map((object) => [object.metadata.name, manifestOf(object)]));
const ctx = {
  follow: (_: unknown, { name }: { readonly name: string }) => manifests.get(name),
  store: () => ({ list: () => [] }),
} as unknown as Context;
const kinds = new Map();

function planWith(name: string, ...wanted: readonly number[]): InstallPlan {
  const resources = wanted.flatMap((at) => {
    const object = objects[at];
    return object === undefined ? [] : [reference(object, object.metadata.name)];
  });
  return aPlan(name, { spec: { stages: [{ name: "s", resources }] } });
}

describe("what the reader of contents keeps", () => {
  test("[security/92] a manifest counts once, however many plans and references lead to it", async () => {
    const reader = new ContentReader();
    const one = await reader.read(planWith("one", 0, 0, 0), ctx, kinds);
    const two = await reader.read(planWith("two", 0), ctx, kinds);
    expect(two.members[0]?.manifest).toBe(one.members[0]?.manifest);
    expect(reader.keptBytes).toBeLessThan(1.1 * mebibyte);
    reader.forget("uid-one");
    reader.forget("uid-two");
    expect(reader.keptBytes).toBe(0);
  });

  test("[security/92] the plan that was not read for the longest time is forgotten beyond the limit", async () => {
    const reader = new ContentReader({ limitBytes: 2.5 * mebibyte });
    const [first, second, third] = [planWith("p0", 0), planWith("p1", 1), planWith("p2", 2)];
    const before = await reader.read(first, ctx, kinds);
    const kept = await reader.read(second, ctx, kinds);
    expect(await reader.read(first, ctx, kinds)).toBe(before);
    await reader.read(third, ctx, kinds);
    expect(reader.keptBytes).toBeLessThan(2.5 * mebibyte);
    expect(await reader.read(first, ctx, kinds)).toBe(before);
    expect(await reader.read(second, ctx, kinds)).not.toBe(kept);
  });

  test("[security/92] one plan beyond the limit is still read, and the next takes its place", async () => {
    const reader = new ContentReader({ limitBytes: mebibyte / 2 });
    const plan = planWith("p0", 0, 1);
    const content = await reader.read(plan, ctx, kinds);
    expect(content.members).toHaveLength(2);
    await reader.read(planWith("p1", 2), ctx, kinds);
    expect(reader.keptBytes).toBeLessThan(1.1 * mebibyte);
  });
});
