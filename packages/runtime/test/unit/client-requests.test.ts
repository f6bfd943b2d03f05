import { assert, property, string } from "fast-check";
import { describe, expect, test } from "vitest";

import { cutObject, cutPage, listRequest, pageOf } from "../../src/client/list-all.ts";
import { collectionPath, objectPath, requests } from "../../src/client/requests.ts";
import { defineKind } from "../../src/object/kind.ts";
import { asLive } from "../../src/object/kube-object.ts";
import { impersonationHeaders } from "../../src/transport/api-request.ts";
import { parseJson } from "../../src/transport/parse-json.ts";
import { configMaps, namespaces } from "../support/kinds.ts";

const deployments = defineKind({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  scope: "Namespaced",
});

describe("paths", () => {
  const rows = [
    {
      name: "core, namespaced",
      given: objectPath(configMaps, { name: "a", namespace: "n" }),
      want: "/api/v1/namespaces/n/configmaps/a",
    },
    {
      name: "group, subresource",
      given: objectPath(deployments, { name: "a", namespace: "n" }, "scale"),
      want: "/apis/apps/v1/namespaces/n/deployments/a/scale",
    },
    { name: "cluster-scoped", given: objectPath(namespaces, { name: "a" }), want: "/api/v1/namespaces/a" },
    { name: "all namespaces", given: collectionPath(deployments), want: "/apis/apps/v1/deployments" },
    {
      name: "strange but allowed names",
      given: objectPath(namespaces, { name: "system:a b?#ü" }),
      want: "/api/v1/namespaces/system%3Aa%20b%3F%23%C3%BC",
    },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    expect(given).toBe(want);
  });

  const refused = ["", ".", "..", "a/b", "../x", "a%2fb", "a%2f..%2fb", "%2e%2e"];
  test.each(refused)("a name that leads elsewhere is refused: %s", (name) => {
    expect(() => objectPath(configMaps, { name, namespace: "n" })).toThrow(/cannot be named/);
    expect(() => objectPath(configMaps, { name: "a", namespace: name })).toThrow(
      /cannot be named|needs a namespace/,
    );
  });

  test("whatever the name, the path has as many segments as meant and decodes to the name", () => {
    const keepsToItsScope = (name: string): boolean => {
      const segments = new URL(objectPath(configMaps, { name, namespace: "n" }), "http://h").pathname.split(
        "/",
      );
      return segments.length === 7 && decodeURIComponent(segments.at(-1) ?? "") === name;
    };
    const isRefused = (name: string): boolean => /^\.{0,2}$|[/%]/.test(name) || !name.isWellFormed();
    const names = string({ unit: "binary" }).filter((name) => !isRefused(name));
    expect(() => {
      assert(property(names, keepsToItsScope));
    }).not.toThrow();
  });

  test("a namespaced object without a namespace is refused", () => {
    expect(() => objectPath(configMaps, { name: "a" })).toThrow(/needs a namespace/);
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
    expect(() => requests.create(configMaps, object, {})).toThrow(/needs a namespace/);
  });
});

describe("requests", () => {
  const ref = { name: "a", namespace: "n" };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: ref };

  test("reads are quorum reads unless a version is named", () => {
    expect(requests.get(configMaps, ref, {}).path).toBe("/api/v1/namespaces/n/configmaps/a");
    expect(requests.get(configMaps, ref, { resourceVersion: "0" }).path).toMatch(/\?resourceVersion=0$/);
  });

  test("an apply is strict, names its manager and forces only when told", () => {
    const gentle = requests.apply(configMaps, object, { fieldManager: "me & you", force: false });
    expect(gentle).toMatchObject({
      method: "PATCH",
      contentType: "application/apply-patch+yaml",
      body: object,
    });
    expect(gentle.path).toMatch(/\/a\?fieldValidation=Strict&fieldManager=me%20%26%20you$/);
    const forced = requests.apply(configMaps, object, {
      fieldManager: "m",
      force: true,
      dryRun: true,
      subresource: "status",
    });
    expect(forced.path).toMatch(/\/a\/status\?fieldValidation=Strict&fieldManager=m&dryRun=All&force=true$/);
  });

  test("patches say how they are meant", () => {
    const operations = [{ op: "remove", path: "/data" }] as const;
    expect(requests.patch(configMaps, ref, { patch: { kind: "json", operations } })).toMatchObject({
      contentType: "application/json-patch+json",
      body: operations,
    });
    expect(
      requests.patch(configMaps, ref, { patch: { kind: "merge", body: {} }, fieldValidation: "Warn" }),
    ).toMatchObject({
      contentType: "application/merge-patch+json",
      path: expect.stringContaining("fieldValidation=Warn") as string,
    });
  });

  test("a delete carries its conditions in the body", () => {
    const preconditions = { uid: "u", resourceVersion: "5" };
    const { body, method } = requests.delete(configMaps, ref, {
      preconditions,
      propagation: "Foreground",
      dryRun: true,
    });
    expect(method).toBe("DELETE");
    expect(JSON.parse(JSON.stringify(body))).toEqual({
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: "Foreground",
      preconditions,
      dryRun: ["All"],
    });
  });

  test("a raw request is named by its path without the query", () => {
    expect(requests.raw({ method: "GET", path: "/api?x=y" }).subject).toEqual({ kind: "/api" });
  });
});

describe("lists", () => {
  test("a version means at least that one; a continuation carries none", () => {
    expect(listRequest(configMaps, { resourceVersion: "7", labelSelector: "a in (b,c)" }).path).toBe(
      "/api/v1/configmaps?limit=500&labelSelector=a%20in%20(b%2Cc)&resourceVersion=7&resourceVersionMatch=NotOlderThan",
    );
    expect(
      listRequest(configMaps, { namespace: "n", resourceVersion: "7", continueToken: "t", pageSize: 2 }).path,
    ).toBe("/api/v1/namespaces/n/configmaps?limit=2&continue=t");
  });

  test("items get the kind they lack and keep the keys they have", () => {
    const response = parseJson(
      '{"metadata":{"resourceVersion":"9","continue":"t"},"items":[{"__proto__":{"x":1},"metadata":{"name":"a"}}]}',
    );
    const page = pageOf(configMaps, response);
    expect(page).toMatchObject({ resourceVersion: "9", continueToken: "t" });
    expect(JSON.stringify(page.items[0])).toBe(
      '{"apiVersion":"v1","kind":"ConfigMap","__proto__":{"x":1},"metadata":{"name":"a"}}',
    );
  });

  test("no items may be null", () => {
    expect(pageOf(configMaps, { metadata: {}, items: null }).items).toEqual([]);
  });

  test("what is no list is not taken for an empty one", () => {
    for (const response of ["oops", null, {}, { message: "no route" }, { kind: "Status" }])
      expect(() => pageOf(configMaps, response)).toThrow(/not a list/);
  });
});

test("impersonation names user, groups, uid and extra, keys encoded", () => {
  const identity = { user: "u", groups: ["g", "h"], uid: "1", extra: { "example.org/Scopes": ["a", "b"] } };
  expect(impersonationHeaders(identity)).toEqual([
    "impersonate-user",
    "u",
    "impersonate-group",
    "g",
    "impersonate-group",
    "h",
    "impersonate-uid",
    "1",
    "impersonate-extra-example.org%2Fscopes",
    "a",
    "impersonate-extra-example.org%2Fscopes",
    "b",
  ]);
});

describe("reads of metadata only", () => {
  const whole = {
    apiVersion: "v1",
    kind: "PartialObjectMetadata",
    metadata: { name: "a", namespace: "n" },
    data: { a: "1" },
  };
  const want = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } };

  test("query the server to cut objects, and take them whole where it cannot", () => {
    const options = { isMetadataOnly: true };
    const get = requests.get(configMaps, { name: "a", namespace: "n" }, options);
    expect(get.accept).toBe("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
    const list = listRequest(configMaps, options);
    expect(list.accept).toBe(
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
    );
    expect(listRequest(configMaps, {}).accept).toBeUndefined();
  });

  test("give back nothing else, under the kind that was requested", () => {
    expect(cutObject(configMaps, asLive(whole))).toEqual(want);
    const page = pageOf(configMaps, { items: [whole], metadata: { resourceVersion: "7" } });
    expect(cutPage(configMaps, page)).toEqual({ items: [want], resourceVersion: "7" });
  });
});
