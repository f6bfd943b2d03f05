import { expect, test } from "vitest";

import { describeRequest, isWritePoint } from "../../src/fault-proxy/seen-request.ts";

const read = (method: string, url: string, headers = {}): ReturnType<typeof describeRequest> =>
  describeRequest({ method, url, headers }, 1);

test.each([
  {
    given: "GET /api/v1/namespaces/a/pods/p",
    want: { verb: "get", resource: "pods", namespace: "a", name: "p" },
  },
  { given: "GET /api/v1/pods?limit=5", want: { verb: "list", resource: "pods", namespace: undefined } },
  {
    given: "GET /apis/apps/v1/namespaces/a/deployments?watch=true",
    want: { verb: "watch", group: "apps", resource: "deployments" },
  },
  {
    given: "GET /api/v1/namespaces/a",
    want: { verb: "get", resource: "namespaces", name: "a", namespace: undefined },
  },
  {
    given: "PUT /api/v1/namespaces/a/finalize",
    want: { verb: "update", resource: "namespaces", name: "a", subresource: "finalize" },
  },
  {
    given: "PATCH /api/v1/namespaces/a/pods/p/status?fieldManager=me",
    want: { verb: "patch", subresource: "status", fieldManager: "me" },
  },
  { given: "DELETE /api/v1/namespaces/a/pods", want: { verb: "deletecollection" } },
  { given: "POST /api/v1/namespaces/a/pods?dryRun=All", want: { verb: "create", isDryRun: true } },
  { given: "GET /version", want: { verb: "list", resource: "" } },
])("reads $given", ({ given, want }) => {
  const [method = "", url = ""] = given.split(" ");
  expect(read(method, url)).toMatchObject(want);
});

test("tells who was spoken as and which reconcile asked", () => {
  const headers = { "impersonate-user": "system:serviceaccount:a:b", "x-quartermaster-reconcile-id": "r1" };
  expect(read("GET", "/api/v1/pods", headers)).toMatchObject({
    impersonatedUser: "system:serviceaccount:a:b",
    reconcileId: "r1",
  });
});

test.each([
  { given: "POST /api/v1/namespaces/a/configmaps", want: true },
  { given: "POST /api/v1/namespaces/a/configmaps?dryRun=All", want: false },
  { given: "POST /apis/events.k8s.io/v1/namespaces/a/events", want: false },
  { given: "PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/l", want: false },
  { given: "GET /api/v1/pods", want: false },
])("takes $given for a write point: $want", ({ given, want }) => {
  const [method = "", url = ""] = given.split(" ");
  expect(isWritePoint(read(method, url))).toBe(want);
});
