import type { KubeObject } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { filesOf, MAX_KEYS, MAX_PAYLOAD_BYTES, payloadOf } from "../../src/payload.ts";
import { decidePublish } from "../../src/volume/decide-publish.ts";
import type { SeenShare } from "../../src/volume/observe-volume.ts";

const pod = { namespace: "app", name: "web", uid: "uid-1", serviceAccount: "builder" };

function secretWith(data: Readonly<Record<string, string>>): KubeObject {
  const object = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "hidden", namespace: "source", resourceVersion: "7" },
    data,
  };
  return object;
}

function seen(name: string, facts: Partial<SeenShare> = {}): SeenShare {
  return {
    name,
    isPermitted: true,
    backing: { kind: "Secret", namespace: "source", name: "hidden" },
    object: secretWith({ [`${name}.pem`]: "eA==" }),
    ...facts,
  };
}

describe("what a volume contains", () => {
  test("is the files of all shares, and it follows the objects behind them", () => {
    const { payload, sources } = decidePublish(pod, [seen("a"), seen("b")]);
    expect([...payload].map(([key, bytes]) => `${key}=${bytes.toString()}`)).toEqual(["a.pem=x", "b.pem=x"]);
    const backing = { kind: "Secret", namespace: "source", name: "hidden" };
    expect(sources).toEqual([
      { share: "a", backing, version: "7", keys: ["a.pem"] },
      { share: "b", backing, version: "7", keys: ["b.pem"] },
    ]);
  });

  const { backing, object, ...withoutShare } = seen("b");
  test.each([
    {
      name: "a Share that may not be used",
      shares: [seen("a", { isPermitted: false })],
      reason: "Forbidden",
      says: 'service account "builder" in namespace "app" is not permitted to use Share "a"',
    },
    {
      name: "a Share that may not be used and does not exist, with the same words",
      shares: [{ name: "a", isPermitted: false }],
      reason: "Forbidden",
      says: 'service account "builder" in namespace "app" is not permitted to use Share "a"',
    },
    {
      name: "a Share that does not exist",
      shares: [seen("a"), withoutShare],
      reason: "ShareNotFound",
      says: 'Share "b" not found',
    },
    {
      name: "an object that does not exist, without its name",
      shares: [{ ...withoutShare, ...(backing === undefined ? {} : { backing }) }],
      reason: "BackingObjectNotFound",
      says: 'the Secret behind Share "b" does not exist',
    },
    {
      name: "[subscription-injection/AC-H10] the same key in two shares",
      shares: [
        seen("a", object === undefined ? {} : { object }),
        seen("b", object === undefined ? {} : { object }),
      ],
      reason: "KeyConflict",
      says: 'key "b.pem" is in Share "a" and in Share "b"',
    },
  ])("is refused for $name", ({ shares, reason, says }) => {
    let refusal: unknown;
    try {
      decidePublish(pod, shares);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ reason, message: says });
  });
});

describe("the files of an object", () => {
  test("[subscription-injection/AC-H12] are its bytes: not UTF-8, empty, text, base64", () => {
    const bytes = Buffer.from([0xff, 0x00, 0x80]);
    const map = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "m" },
      data: { text: "ü", "b64-look-alike": "eA==" },
      binaryData: { bytes: bytes.toString("base64") },
    };
    const files = payloadOf([
      { share: "a", files: filesOf(secretWith({ raw: bytes.toString("base64"), empty: "" })) },
      { share: "b", files: filesOf(map) },
    ]);
    expect(files.get("raw")).toEqual(bytes);
    expect(files.get("empty")).toEqual(Buffer.alloc(0));
    expect(files.get("bytes")).toEqual(bytes);
    expect(files.get("text")).toEqual(Buffer.from("ü"));
    expect(files.get("b64-look-alike")).toEqual(Buffer.from("eA=="));
  });

  test.each([{ key: ".." }, { key: "..data" }, { key: "." }, { key: "a/b" }, { key: "" }])(
    "are refused with the key $key, which is no file name",
    ({ key }) => {
      expect(() => payloadOf([{ share: "a", files: filesOf(secretWith({ [key]: "" })) }])).toThrow(
        "not a file name",
      );
    },
  );

  test("have limits, at the limit and beyond", () => {
    const keys = (count: number): KubeObject =>
      secretWith(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, ""])));
    expect(payloadOf([{ share: "a", files: filesOf(keys(MAX_KEYS)) }]).size).toBe(MAX_KEYS);
    expect(() => payloadOf([{ share: "a", files: filesOf(keys(MAX_KEYS + 1)) }])).toThrow("the limits are");
    const large = (sizeBytes: number): KubeObject =>
      secretWith({ k: Buffer.alloc(sizeBytes).toString("base64") });
    expect(payloadOf([{ share: "a", files: filesOf(large(MAX_PAYLOAD_BYTES)) }]).size).toBe(1);
    expect(() => payloadOf([{ share: "a", files: filesOf(large(MAX_PAYLOAD_BYTES + 1)) }])).toThrow(
      "the limits are",
    );
  });
});
