import { gzipSync } from "node:zlib";

import type { ResourceManifest } from "@quartermaster/api";
import { digestOf } from "@quartermaster/runtime";
import { cpuMs } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  InflatedSize,
  type ManifestSecret,
  resolveManifest,
} from "../../../src/manifest/resolve-manifest.ts";

const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } };
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const gzip = (text: string | Uint8Array): string => gzipSync(text).toString("base64");

interface Given {
  readonly spec: Partial<ResourceManifest["spec"]>;
  readonly secret?: ManifestSecret;
}

function resolve({ spec, secret }: Given): ReturnType<typeof resolveManifest> {
  const manifest: ResourceManifest = {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "ResourceManifest",
    metadata: { name: "rm-1", namespace: "shop" },
    spec: { sha256: digestOf(object), ...spec },
  };
  return resolveManifest(manifest, (name) => (name === "s" ? secret : undefined));
}

describe("resolveManifest", () => {
  const good: readonly (Given & { readonly name: string })[] = [
    { name: "an embedded object", spec: { manifest: object } },
    { name: "packed JSON", spec: { data: gzip(JSON.stringify(object)), encoding: "gzip" } },
    {
      name: "a key of an immutable Secret",
      spec: { secretKeyRef: { name: "s", key: "m" } },
      secret: { immutable: true, data: { m: base64(JSON.stringify(object, null, 2)) } },
    },
  ];
  test.for(good)("reads $name", (given) => {
    expect(resolve(given)).toEqual({ kind: "ok", value: object });
  });

  const ref = { secretKeyRef: { name: "s", key: "m" } };
  const bad: readonly {
    readonly name: string;
    readonly given: Given;
    readonly want: readonly [string, string];
  }[] = [
    {
      name: "content of another digest",
      given: { spec: { manifest: { ...object, data: {} } } },
      want: ["changed", "its content does not match the digest in spec.sha256"],
    },
    {
      name: "data that is no gzip",
      given: { spec: { data: base64("plain"), encoding: "gzip" } },
      want: ["invalid", "data is not gzip"],
    },
    {
      name: "cut gzip data",
      given: { spec: { data: gzip(JSON.stringify(object)).slice(0, 40), encoding: "gzip" } },
      want: ["invalid", "data is not gzip"],
    },
    {
      name: "packed text that is no JSON",
      given: { spec: { data: gzip("a: 1"), encoding: "gzip" } },
      want: ["invalid", "is not JSON"],
    },
    {
      name: "packed bytes that are no text",
      given: { spec: { data: gzip(Buffer.from([0x22, 0xff, 0x22])), encoding: "gzip" } },
      want: ["invalid", "is not JSON"],
    },
    {
      name: "duplicate keys",
      given: { spec: { data: gzip('{"a":1,"a":2}'), encoding: "gzip" } },
      want: ["invalid", 'line 1: the key "a" occurs twice'],
    },
    {
      name: "10,000 levels",
      given: { spec: { data: gzip("[".repeat(10_000) + "]".repeat(10_000)), encoding: "gzip" } },
      want: ["invalid", "line 1: nested deeper than 100 levels"],
    },
    {
      name: "a Secret that does not exist",
      given: { spec: ref },
      want: ["missing", "Secret s does not exist"],
    },
    {
      name: "a mutable Secret",
      given: { spec: ref, secret: { data: { m: base64("{}") } } },
      want: ["invalid", "Secret s must be immutable; set immutable: true on it"],
    },
    {
      name: "a Secret without the key",
      given: {
        spec: { secretKeyRef: { name: "s", key: "constructor" } },
        secret: { immutable: true, data: {} },
      },
      want: ["missing", 'Secret s has no key "constructor"'],
    },
    {
      name: "a Secret that holds no JSON",
      given: { spec: ref, secret: { immutable: true, data: { m: base64("hunter2") } } },
      want: ["invalid", "is not JSON"],
    },
    {
      name: "a manifest without content",
      given: { spec: {} },
      want: ["invalid", "has none of manifest, data, secretKeyRef"],
    },
  ];
  test.for(bad)("refuses $name", ({ given, want: [kind, message] }) => {
    expect(resolve(given)).toEqual({ kind, message: `ResourceManifest rm-1: ${message}` });
  });

  const hostile = [
    { name: "a string without end", given: `"${String.raw`\"`.repeat(1_000_000)}` },
    { name: "brackets without end", given: "[".repeat(3_000_000) },
    { name: "many strings", given: `[${'"a",'.repeat(700_000)}1]` },
    { name: "one long number", given: `[${"1".repeat(3_000_000)}]` },
    { name: "many long numbers", given: `[${"12345678901234567890,".repeat(150_000)}1]` },
  ];
  test.for(hostile)("reads 3 MB of $name in time that grows with the size", ({ given }) => {
    const spec = { data: gzip(given), encoding: "gzip" as const };
    expect(resolve({ spec }).kind).not.toBe("ok");
    expect(cpuMs(() => resolve({ spec }))).toBeLessThan(3_000);
  });

  test("stops unpacking at 4 MiB of what would be 200 MB", () => {
    const bomb = gzip(Buffer.alloc(200 * 1024 * 1024, " "));
    const before = process.memoryUsage();
    const spec = { data: bomb, encoding: "gzip" as const };
    expect(resolve({ spec })).toEqual({
      kind: "invalid",
      message: "ResourceManifest rm-1: inflates to more than 4 MiB",
    });
    const { arrayBuffers } = process.memoryUsage();
    expect(arrayBuffers - before.arrayBuffers).toBeLessThan(32 * 1024 * 1024);
    expect(cpuMs(() => resolve({ spec }))).toBeLessThan(500);
  });

  describe("[security/92] what several manifests unpack to", () => {
    const manifestOf = (text: string): ResourceManifest => ({
      apiVersion: "install.quartermaster.dev/v1alpha1",
      kind: "ResourceManifest",
      metadata: { name: "rm-1", namespace: "shop" },
      spec: { sha256: digestOf(JSON.parse(text)), data: gzip(text), encoding: "gzip" },
    });
    const text = JSON.stringify({ ...object, data: { k: "a".repeat(3 * 2 ** 20) } });

    test("is bounded, with a message that names the limit and the field", () => {
      const total = new InflatedSize(8 * 2 ** 20);
      const kinds = [1, 2, 3, 4].map(() => resolveManifest(manifestOf(text), () => undefined, total));
      expect(kinds.map(({ kind }) => kind)).toEqual(["ok", "ok", "invalid", "invalid"]);
      expect(kinds[2]).toMatchObject({
        message:
          "ResourceManifest rm-1: with it, the manifestRefs in spec.stages inflate to more than 8 MiB in total; split the plan",
      });
    });

    test("counts values where they take more than their text", () => {
      const many = JSON.stringify(Array.from({ length: 300_000 }, () => []));
      expect(resolveManifest(manifestOf(many), () => undefined)).toMatchObject({
        kind: "invalid",
        message: "ResourceManifest rm-1: inflates to more than 4 MiB",
      });
      const written = JSON.stringify({ text: "[],".repeat(300_000), end: '\\",' });
      expect(resolveManifest(manifestOf(written), () => undefined).kind).toBe("ok");
    });
  });
});
