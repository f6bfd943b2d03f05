import { describe, expect, test } from "vitest";

import { isTextDeeperThan } from "../../src/object/is-deeper-than.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { readAdmission } from "../../src/webhook/admission.ts";
import { ConversionError, convertOverHub } from "../../src/webhook/conversion.ts";
import { respondWithinMs, callerTimeoutMs } from "../../src/webhook/request-handler.ts";
import { respondToReview, type WebhookRoute } from "../../src/webhook/respond-to-review.ts";

const { signal } = new AbortController();
const request = {
  uid: "u-1",
  kind: { group: "", version: "v1", kind: "ConfigMap" },
  resource: { group: "", version: "v1", resource: "configmaps" },
  operation: "CREATE",
  userInfo: { username: "somebody", groups: ["all"] },
  object: { data: { big: 1 } },
};
const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };

async function responseTo(route: WebhookRoute, text: string): Promise<{ status: number; body: unknown }> {
  const { status, body } = await respondToReview(route, Buffer.from(text), signal);
  return { status, body: status === 200 ? (JSON.parse(body) as unknown) : body };
}

function deciding(decide: Extract<WebhookRoute, { kind: "admission" }>["decide"]): WebhookRoute {
  return { kind: "admission", path: "/", decide };
}

describe("an admission review", () => {
  test("[runtime/RT-24] carries the patch, the warnings and the uid of an allowed request", async () => {
    const operation = { op: "add", path: "/metadata/labels", value: { a: "b" } } as const;
    const route = deciding(() => ({ kind: "allow", patch: [operation], warnings: ["mind this"] }));
    const { body } = await responseTo(route, JSON.stringify(review));
    const patch = Buffer.from(JSON.stringify([operation])).toString("base64");
    expect(body).toEqual({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: { uid: "u-1", allowed: true, warnings: ["mind this"], patchType: "JSONPatch", patch },
    });
  });

  test("[runtime/RT-24] carries code, reason and message of a refusal", async () => {
    const route = deciding(() => ({ kind: "deny", code: 422, reason: "Invalid", message: "No." }));
    const { body } = await responseTo(route, JSON.stringify(review));
    const status = { status: "Failure", code: 422, reason: "Invalid", message: "No." };
    expect(body).toMatchObject({ response: { uid: "u-1", allowed: false, status } });
  });

  test("keeps strange keys and big numbers of the object", async () => {
    const text = JSON.stringify(review).replace(
      '"big":1',
      '"__proto__":{"x":1},"constructor":1,"big":9223372036854775807',
    );
    let seen: unknown;
    const route = deciding(({ object }) => {
      seen = object;
      return { kind: "allow" };
    });
    await responseTo(route, text);
    expect(JSON.stringify(seen)).toBe(
      '{"data":{"__proto__":{"x":1},"constructor":1,"big":9223372036854775807}}',
    );
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test.each([
    { name: "an array", given: "[]" },
    { name: "nothing", given: "" },
    { name: "half of it", given: '{"apiVersion":' },
    { name: "no request", given: JSON.stringify({ ...review, request: undefined }) },
    { name: "no uid", given: JSON.stringify({ ...review, request: { ...request, uid: undefined } }) },
    { name: "an empty uid", given: JSON.stringify({ ...review, request: { ...request, uid: "" } }) },
    { name: "another version", given: JSON.stringify({ ...review, apiVersion: "admission.k8s.io/v1beta1" }) },
    { name: "10,000 levels", given: `${"[".repeat(10_000)}${"]".repeat(10_000)}` },
    { name: "1,000,000 levels that never end", given: "[".repeat(1_000_000) },
  ])("[runtime/RT-23] $name is a bad request", async ({ given }) => {
    const route = deciding(() => {
      throw new Error("asked");
    });
    const { status, body } = await responseTo(route, given);
    expect(status).toBe(400);
    expect(body).toMatch(/^the review is [A-Za-z0-9 ]+\n$/);
  });

  test("of an unknown shape is undefined", () => {
    expect(readAdmission(null)).toBeUndefined();
  });
});

describe("the depth of JSON text", () => {
  test.each([
    { name: "brackets in strings do not count", text: '{"a":"[[[[\\"[["}', want: false },
    { name: "at the limit", text: "[[[]]]", want: false },
    { name: "beyond the limit", text: "[[{}],[[[]]]]", want: true },
    { name: "levels that were closed do not count", text: "[[],[],[],[],[]]", want: false },
    { name: "an unfinished string", text: '"\\', want: false },
  ])("[runtime/RT-23] $name", ({ text, want }) => {
    expect(isTextDeeperThan(Buffer.from(text), 3)).toBe(want);
  });
});

describe("the caller's time", () => {
  test.each([
    { query: "?timeout=10s", want: 10_000 },
    { query: "?timeout=1m30s", want: 30_000 },
    { query: "?timeout=250ms", want: 250 },
    { query: "?timeout=2.5s", want: 2_500 },
    { query: "", want: 10_000 },
    { query: "?timeout=-1s", want: 10_000 },
    { query: "?timeout=0s", want: 10_000 },
    { query: "?timeout=9999999999999s", want: 10_000 },
  ])("[runtime/RT-23] $query means $want ms", ({ query, want }) => {
    expect(callerTimeoutMs(new URL(`https://x/${query}`))).toBe(want);
  });

  test("is not used up: the response has to travel", () => {
    expect(respondWithinMs(10_000)).toBe(9_500);
    expect(respondWithinMs(1_000)).toBe(900);
  });
});

describe("a conversion review", () => {
  const convert = convertOverHub({
    hub: "e.org/v2",
    spokes: {
      "e.org/v1": {
        toHub: (object) => ({ ...object, spec: { size: 2 } }) as KubeObject,
        fromHub: (object) => {
          if (object.metadata.name === "bad") throw new ConversionError("bad has no equal in v1");
          if (object.metadata.name === "bug") throw new TypeError("ours");
          return { ...object, spec: { big: true } } as KubeObject;
        },
      },
    },
  });
  const route: WebhookRoute = { kind: "conversion", path: "/", convert };
  const requesting = (desiredAPIVersion: string, ...names: readonly string[]): string =>
    JSON.stringify({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "ConversionReview",
      request: {
        uid: "u",
        desiredAPIVersion,
        objects: names.map((name) => ({ apiVersion: "e.org/v2", kind: "T", metadata: { name } })),
      },
    });

  test("converts every object over the hub", async () => {
    const { body } = await responseTo(route, requesting("e.org/v1", "a", "b"));
    expect(body).toMatchObject({
      response: {
        uid: "u",
        result: { status: "Success" },
        convertedObjects: [
          { apiVersion: "e.org/v1", metadata: { name: "a" }, spec: { big: true } },
          { apiVersion: "e.org/v1", metadata: { name: "b" }, spec: { big: true } },
        ],
      },
    });
  });

  test("converts all or none", async () => {
    const { body } = await responseTo(route, requesting("e.org/v1", "a", "bad"));
    const result = { status: "Failure", message: "bad has no equal in v1" };
    expect(body).toMatchObject({ response: { uid: "u", result, convertedObjects: [] } });
  });

  test("refuses a version that no one knows", async () => {
    const { body } = await responseTo(route, requesting("e.org/v9", "a"));
    expect(body).toMatchObject({ response: { result: { status: "Failure" } } });
  });

  test("[runtime/RT-24] throws our own faults", async () => {
    await expect(responseTo(route, requesting("e.org/v1", "bug"))).rejects.toThrow(TypeError);
  });
});
