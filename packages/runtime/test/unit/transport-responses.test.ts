import { describe, expect, test } from "vitest";

import { type ApiRequest, describeRequest, isSensitive } from "../../src/transport/api-request.ts";
import { type HttpResponse, readResponse } from "../../src/transport/exchange.ts";
import { responseError, readStatus, retryAfterMsOf } from "../../src/transport/response-error.ts";

const request: ApiRequest = {
  method: "PATCH",
  verb: "apply",
  path: "/api/v1/namespaces/n/configmaps/a",
  subject: { kind: "ConfigMap", ref: { name: "a", namespace: "n" } },
};

function response(status: number, text: string, fields: Partial<HttpResponse> = {}): HttpResponse {
  const contentType = "application/json";
  return {
    kind: "answer",
    status,
    contentType,
    retryAfter: undefined,
    text,
    sizeBytes: text.length,
    ...fields,
  };
}

const report = (fields: object): string => JSON.stringify({ kind: "Status", ...fields });

describe("an object that cannot be applied because of its schema", () => {
  const start = "failed to create typed patch object (n/a; /v1, Kind=ConfigMap): ";
  const mistyped = ".data.count: expected string, got &value.valueUnstructured{Value:1}";
  const undeclared = ".dota: field not declared in schema";
  const count = { field: "data.count", reason: "SchemaMismatch", message: "expected string" };
  const dota = { field: "dota", reason: "SchemaMismatch", message: "field not declared in schema" };

  test.each([
    { name: "one fault", output: mistyped, want: [count] },
    { name: "several", output: `errors:\n  ${mistyped}\n  ${undeclared}`, want: [count, dota] },
    {
      name: "nothing if one is not understood",
      output: `errors:\n  ${mistyped}\n  .x: duplicate entries`,
      want: [],
    },
    { name: "nothing if a value has several lines", output: `${mistyped}\nx`, want: [] },
  ])("has causes: $name", ({ output, want }) => {
    const error = responseError(request, response(500, report({ message: start + output })), 0);
    expect(error).toMatchObject({ class: "invalid", causes: want });
  });

  test.each([
    {
      name: "a value",
      output: ".data.pin: expected string, got &value.valueUnstructured{Value:4711}",
      field: "data",
    },
    { name: "a misplaced value", output: ".data.4711: expected string, got &value", field: "data" },
    { name: "a value in place of a field", output: ".4711: field not declared in schema", field: "" },
  ])("of a Secret, shows a field that all Secrets have and never $name", ({ output, field }) => {
    const path = "/api/v1/namespaces/n/secrets/a";
    const error = responseError({ ...request, path }, response(500, report({ message: start + output })), 0);
    expect(error.causes).toEqual([{ field, reason: "SchemaMismatch", message: "" }]);
    expect(error.message).not.toContain("4711");
  });
});

test("an error names what the server says it is about", () => {
  const details = { name: "shop", kind: "namespaces" };
  const error = responseError(request, response(404, report({ reason: "NotFound", details })), 0);
  expect(error.subject).toEqual({ resource: "namespaces", name: "shop" });
});

describe("the class of a response", () => {
  const tooLargeForGrpc =
    "rpc error: code = ResourceExhausted desc = trying to send message larger than max (3 vs. 2)";
  const versionTooLarge = {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
  };
  const rows = [
    { name: "400", given: response(400, report({})), want: { class: "invalid", mayHaveActed: false } },
    { name: "401", given: response(401, report({})), want: { class: "unauthorized", mayHaveActed: false } },
    { name: "403", given: response(403, report({})), want: { class: "forbidden", mayHaveActed: false } },
    {
      name: "404 of an object",
      given: response(404, report({ reason: "NotFound", details: { name: "a" } })),
      want: { class: "notFound", reason: "NotFound" },
    },
    {
      name: "404 of a kind, with a Status",
      given: response(404, report({ reason: "NotFound", details: {} })),
      want: { class: "notFound", reason: "KindNotServed" },
    },
    {
      name: "404 of a kind, as plain text",
      given: response(404, "404 page not found\n", { contentType: "text/plain" }),
      want: { class: "notFound", reason: "KindNotServed" },
    },
    ...[400, 404, 409, 410, 422].map((code) => ({
      name: `${code} of a gateway`,
      given: response(code, "<html>", { contentType: "text/html" }),
      want: { class: "transient", reason: "NotFromTheServer", mayHaveActed: true },
    })),
    { name: "403 of a gateway", given: response(403, "<html>"), want: { class: "forbidden" } },
    { name: "405", given: response(405, report({})), want: { class: "bug" } },
    {
      name: "409 that exists",
      given: response(409, report({ reason: "AlreadyExists" })),
      want: { class: "alreadyExists" },
    },
    {
      name: "409 of versions or managers",
      given: response(409, report({ reason: "Conflict" })),
      want: { class: "conflict" },
    },
    {
      name: "410",
      given: response(410, report({ reason: "Expired" })),
      want: { class: "gone", reason: "Expired" },
    },
    {
      name: "too large, said by HTTP",
      given: response(413, "", { contentType: "" }),
      want: { class: "tooLarge", mayHaveActed: false },
    },
    {
      name: "too large, said by etcd",
      given: response(500, report({ message: "etcdserver: request is too large" })),
      want: { class: "tooLarge", mayHaveActed: false },
    },
    {
      name: "too large, said by gRPC",
      given: response(500, report({ message: tooLargeForGrpc })),
      want: { class: "tooLarge", mayHaveActed: false },
    },
    { name: "422", given: response(422, report({ reason: "Invalid" })), want: { class: "invalid" } },
    { name: "429", given: response(429, ""), want: { class: "tooManyRequests", mayHaveActed: false } },
    { name: "500", given: response(500, "boom"), want: { class: "transient", mayHaveActed: true } },
    { name: "502 page", given: response(502, "<html>"), want: { class: "transient", mayHaveActed: true } },
    { name: "503", given: response(503, report({})), want: { class: "transient", mayHaveActed: true } },
    {
      name: "503 that requests timeout",
      given: response(503, report({ details: { retryAfterSeconds: 2 } })),
      want: { class: "transient", mayHaveActed: false, retryAfterMs: 2_000 },
    },
    {
      name: "504",
      given: response(504, report({ reason: "Timeout" })),
      want: { class: "timeout", mayHaveActed: true },
    },
    {
      name: "504 of a version not seen yet",
      given: response(504, report({ reason: "Timeout", details: versionTooLarge })),
      want: { class: "transient", reason: "ResourceVersionTooLarge" },
    },
    { name: "a redirect to a login page", given: response(302, ""), want: { class: "bug" } },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    expect(responseError(request, given, 0)).toMatchObject(want);
  });
});

describe("[runtime/RT-31] messages", () => {
  const quoting = report({
    reason: "Invalid",
    message: 'Secret "a" is invalid: data[x]: Invalid value: "canary"',
    details: {
      name: "a",
      causes: [{ field: "data[x]", reason: "FieldValueInvalid", message: 'Invalid value: "canary"' }],
    },
  });

  test("name verb, object, status and what the server said", () => {
    const given = response(422, report({ message: "spec.replicas: Invalid value: -1" }));
    expect(responseError(request, given, 0).message).toBe(
      "apply ConfigMap n/a: 422 spec.replicas: Invalid value: -1",
    );
  });

  test("are cut when the server talks on", () => {
    expect(
      responseError(request, response(400, report({ message: "x".repeat(9_999) })), 0).message.length,
    ).toBeLessThan(1_200);
  });

  const sensitivePaths = [
    "/api/v1/namespaces/n/secrets/a",
    "/api/v1/namespaces/n/secrets?fieldManager=x",
    "/api/v1/namespaces/n/serviceaccounts/a/token",
    "/apis/authentication.k8s.io/v1/tokenreviews",
  ];
  test.each(sensitivePaths)("quote no value behind %s", (path) => {
    expect(isSensitive(path)).toBe(true);
    const error = responseError({ ...request, path }, response(422, quoting), 0);
    expect(`${error.message}${JSON.stringify(error)}`).not.toContain("canary");
    expect(error.message).toContain("data[x] FieldValueInvalid");
    expect(error.causes).toEqual([{ field: "data[x]", reason: "FieldValueInvalid", message: "" }]);
  });

  test("a body that is no JSON is not quoted either, not even as a cause", () => {
    const error = readResponse(request, response(200, "canary{"));
    expect(error).toMatchObject({ class: "transient", reason: "BrokenJson", cause: undefined });
    expect(JSON.stringify(error)).not.toContain("canary");
  });

  test("describe calls without an object by what they are about", () => {
    expect(describeRequest({ verb: "list", subject: { kind: "Pod", ref: { namespace: "n" } } })).toBe(
      "list Pod n",
    );
    expect(describeRequest({ verb: "get", subject: { kind: "/version" } })).toBe("get /version");
  });
});

describe("what the server asks us to wait", () => {
  const nowMs = Date.UTC(2026, 0, 1);
  const rows = [
    { name: "seconds", header: "3", seconds: undefined, want: 3_000 },
    { name: "a date", header: "Thu, 01 Jan 2026 00:00:07 GMT", seconds: undefined, want: 7_000 },
    { name: "a date that has passed", header: "Wed, 31 Dec 2025 00:00:00 GMT", seconds: undefined, want: 0 },
    { name: "only the Status", header: undefined, seconds: 4, want: 4_000 },
    { name: "absurd", header: "1000000000", seconds: undefined, want: 60_000 },
    { name: "nonsense", header: "soon", seconds: undefined, want: undefined },
    { name: "negative", header: "-5", seconds: undefined, want: undefined },
    { name: "nothing", header: undefined, seconds: undefined, want: undefined },
  ];
  test.each(rows)("$name", ({ header, seconds, want }) => {
    expect(retryAfterMsOf(header, seconds, nowMs)).toBe(want);
  });
});

describe("reading a Status", () => {
  const rows = [
    { name: "none in a page", given: "<html>" },
    { name: "none in another object", given: '{"kind":"Pod"}' },
    { name: "none in cut text", given: '{"kind":"Status",' },
    { name: "none in an inherited kind", given: '{"__proto__":{"kind":"Status"}}' },
  ];
  test.each(rows)("$name", ({ given }) => {
    expect(readStatus(given)).toBeUndefined();
  });

  test("takes what has the right type and leaves the rest", () => {
    const given =
      '{"kind":"Status","reason":1,"message":"m","details":{"causes":[{"field":"f"},7],"retryAfterSeconds":"x"}}';
    const empty = { field: "", reason: "", message: "" };
    expect(readStatus(given)).toEqual({ message: "m", causes: [{ ...empty, field: "f" }, empty] });
  });
});
