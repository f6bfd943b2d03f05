import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";

import { eventually } from "@quartermaster/testkit";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { podArbitrary } from "../support/random-pods.ts";
import { type HttpResponse, type InjectionBench, startInjection } from "../support/replica.ts";
import { addSidecars } from "../support/sidecar-webhook.ts";

let bench: InjectionBench;

beforeAll(async () => {
  bench = await startInjection();
  await bench.secret("s1", "a.pem");
  await bench.secret("s2", "a.pem");
  await bench.configMap("r1", "redhat.repo");
  await bench.bundle("local", { entitlements: [{ name: "s1" }], yumRepositories: [{ name: "r1" }] });
  await bench.bundle("renamed", { entitlements: [{ name: "s2", prefix: "second-" }] });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

interface Reply {
  readonly status: number | undefined;
  readonly body: string;
}

/** Anybody on the network can post to a webhook. */
async function post(body: string | Buffer, contentType = "application/json"): Promise<Reply> {
  const requested = request({
    host: "127.0.0.1",
    port: bench.port,
    path: "/subscription/pods?timeout=5s",
    method: "POST",
    rejectUnauthorized: false,
    headers: { "content-type": contentType, "content-length": Buffer.byteLength(body) },
  });
  // A refused body may end the connection while it is still being sent.
  requested.on("error", () => undefined);
  requested.end(body);
  const [response] = (await once(requested, "response")) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

interface ReviewCase {
  readonly resource?: string;
  readonly operation?: string;
  readonly namespace?: string;
  readonly object?: object;
}

async function review({
  resource = "pods",
  operation = "CREATE",
  namespace,
  object,
}: ReviewCase): Promise<object> {
  const annotations = { "subscription.openshift.io/inject-bundle": "local" };
  const pod = { metadata: { annotations }, spec: { containers: [{ name: "main" }] } };
  const { status, body } = await post(
    JSON.stringify({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      request: {
        uid: "u-1",
        kind: { group: "", version: "v1", kind: "Pod" },
        resource: { group: "", version: "v1", resource },
        operation,
        namespace: namespace ?? bench.namespace,
        userInfo: { username: "somebody" },
        object: object ?? pod,
      },
    }),
  );
  expect(status, body).toBe(200);
  return (JSON.parse(body) as { response: object }).response;
}

describe("what is posted to the webhook", () => {
  test("[subscription-injection/AC-E10] wrong, empty, oversized and broken bodies are refused", async () => {
    expect((await post("{}", "text/plain")).status).toBe(415);
    expect((await post("")).status).toBe(400);
    expect((await post(Buffer.alloc(7 * 2 ** 20, " "))).status).toBe(413);
    expect((await post(Buffer.alloc(6 * 2 ** 20 + 1, " "))).status).toBe(413);
    expect((await post("{")).status).toBe(400);
    expect((await post("[]")).status).toBe(400);
    expect(await review({})).toMatchObject({ uid: "u-1", allowed: true, patchType: "JSONPatch" });
  });

  test("[subscription-injection/AC-E11] a review of v1beta1 is refused, and the configuration requests v1 only", async () => {
    const older = {
      apiVersion: "admission.k8s.io/v1beta1",
      kind: "AdmissionReview",
      request: { uid: "u-1" },
    };
    expect((await post(JSON.stringify(older))).status).toBe(400);
    const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/quartermaster-subscription-${bench.namespace}`;
    const { object } = await bench.send("GET", path);
    const { webhooks } = object as unknown as {
      webhooks: readonly { readonly admissionReviewVersions: readonly string[] }[];
    };
    expect(webhooks.map(({ admissionReviewVersions }) => admissionReviewVersions)).toEqual([
      ["v1"],
      ["v1"],
      ["v1"],
    ]);
  });

  test("[subscription-injection/AC-E12] a refusal bears the uid too", async () => {
    const annotations = { "subscription.openshift.io/inject-bundle": "nope" };
    const object = { metadata: { annotations }, spec: { containers: [{ name: "main" }] } };
    expect(await review({ object })).toMatchObject({ uid: "u-1", allowed: false });
  });

  test.each([
    { id: "AC-E5", given: { operation: "UPDATE" } },
    { id: "AC-E13", given: { resource: "services" } },
    { id: "AC-C16", given: { namespace: "kube-system" } },
  ])("[subscription-injection/$id] $given is allowed without a patch", async ({ given }) => {
    expect(await review(given)).toEqual({ uid: "u-1", allowed: true });
  });
});

test("[subscription-injection/AC-C16] pods of the system's namespaces never reach the webhook", async () => {
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/quartermaster-subscription-${bench.namespace}`;
  const { object } = await bench.send("GET", path);
  const { webhooks } = object as unknown as {
    webhooks: readonly {
      namespaceSelector: { matchExpressions: readonly { values: readonly string[] }[] };
    }[];
  };
  expect(webhooks).toHaveLength(3);
  for (const { namespaceSelector } of webhooks)
    expect(namespaceSelector.matchExpressions[0]).toMatchObject({
      operator: "NotIn",
      values: expect.arrayContaining(["kube-node-lease", "kube-public", "kube-system"]) as unknown,
    });
});

test("[subscription-injection/AC-D11,AC-D12] a container that a later webhook adds gets the mounts too", async () => {
  await using stack = new AsyncDisposableStack();
  stack.use(await addSidecars(bench));
  const annotations = { "inject-bundle": "local" };
  const { object } = await eventually(async (see) => {
    const response = see(await bench.pod("late", { annotations, dryRun: true }));
    return response.object.spec?.containers?.length === 2 ? response : undefined;
  });
  const paths = object.spec?.containers?.map(({ volumeMounts = [] }) =>
    volumeMounts
      .map((mount) => String(Reflect.get(mount, "mountPath")))
      .filter((path) => path.startsWith("/run")),
  );
  const wanted = ["/run/secrets/redhat.repo", "/run/secrets/etc-pki-entitlement"];
  // The token is mounted only into containers that were there before the webhooks ran.
  expect(paths?.[0]).toEqual(wanted);
  expect(paths?.[1]).toContain("/run/secrets/etc-pki-entitlement");
  expect(object.spec?.volumes?.filter(({ name }) => name.startsWith("etc-pki-entitlement"))).toHaveLength(1);
});

test("[subscription-injection/AC-G8] the API server takes random pods after injection as it took them before", async () => {
  const path = `/api/v1/namespaces/${bench.namespace}/pods?dryRun=All`;
  const ours = /denied the request: subscription injection/;
  const pods = fc.sample(podArbitrary, { numRuns: 60, seed: 11 });
  let injected = 0;
  for (const pod of pods) {
    const { status, object } = await bench.send("POST", path, pod);
    if (status === 201) {
      injected +=
        object.metadata?.annotations?.["subscription.openshift.io/bundle-generations"] === undefined ? 0 : 1;
      continue;
    }
    expect(object.message).toMatch(ours);
  }
  expect(injected).toBeGreaterThan(5);
});

test("[subscription-injection/AC-F16] [security/54] a webhook configuration that is edited or deleted is restored", async () => {
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/quartermaster-subscription-${bench.namespace}`;
  const before = await bench.send("GET", path);
  const hooks = ({ object }: HttpResponse) => (object as unknown as { webhooks?: unknown }).webhooks;
  await bench.cluster.api.send({
    method: "PATCH",
    path,
    contentType: "application/json-patch+json",
    body: [{ op: "replace", path: "/webhooks/0/clientConfig/url", value: "https://127.0.0.1:1/theirs" }],
  });
  const isRestored = async (see: <T>(value: T) => T): Promise<boolean> =>
    JSON.stringify(hooks(see(await bench.send("GET", path)))) === JSON.stringify(hooks(before));
  await eventually(isRestored, { withinMs: 10_000 });
  await bench.send("DELETE", path);
  await eventually(isRestored, { withinMs: 10_000 });
});

test("[security/33] while no one answers, pods that name a bundle are refused and others start", async () => {
  await bench.stop();
  const { status, object } = await bench.pod("down", {
    annotations: { "inject-bundle": "local" },
    dryRun: true,
  });
  expect(status).toBe(500);
  expect(object.message).toContain("failed calling webhook");
  expect((await bench.pod("other", { dryRun: true })).status).toBe(201);
  const forged = await bench.pod("forged", { annotations: { "bundle-generations": "{}" }, dryRun: true });
  expect(forged.status).toBe(201);
});
