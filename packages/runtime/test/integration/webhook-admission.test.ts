import { randomBytes } from "node:crypto";

import { eventually, joinSharedCluster, makeNamespace, type SharedCluster } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { realSystem } from "../../src/system/real-system.ts";
import { convertOverHub } from "../../src/webhook/conversion.ts";
import type { WebhookRoute } from "../../src/webhook/respond-to-review.ts";
import { WebhookServer } from "../../src/webhook/webhook-server.ts";
import { makeServing, registrationOf } from "../support/serving.ts";

interface HttpResponse {
  readonly status: number;
  readonly object: {
    readonly metadata?: { readonly labels?: Record<string, string> };
    readonly message?: string;
  };
}

async function create(cluster: SharedCluster, namespace: string, name: string): Promise<HttpResponse> {
  const body = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace },
    data: { __proto__x: "1" },
  };
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const response = await cluster.api.send({ method: "POST", path, body, timeoutMs: 20_000 });
  return { status: response.status, object: JSON.parse(response.body) as HttpResponse["object"] };
}

async function serve(route: WebhookRoute): Promise<{ port: number; server: WebhookServer; caPem: string }> {
  const { ca, certificates } = await makeServing();
  const server = new WebhookServer({
    system: realSystem(),
    certificates,
    port: 0,
    host: "127.0.0.1",
    routes: [route],
  });
  return { port: await server.listen(), server, caPem: ca.certificatePem };
}

/** Registers a webhook for the namespace; `await using` takes it away again. */
async function register(
  cluster: SharedCluster,
  kind: "Mutating" | "Validating",
  options: { port: number; caPem: string; namespace: string; timeoutSeconds?: number },
): Promise<AsyncDisposable> {
  const name = `w${randomBytes(4).toString("hex")}`;
  const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations/${name}`;
  await cluster.api.apply(path, registrationOf({ name, kind, path: "/admit", ...options }));
  return {
    [Symbol.asyncDispose]: async () => {
      await cluster.api.send({ method: "DELETE", path });
    },
  };
}

describe("behind the real API server", () => {
  test("[runtime/RT-24] a mutating webhook patches and a refusal reaches the user with code and message", async () => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "webhook");
    const { server, port, caPem } = await serve({
      kind: "admission",
      path: "/admit",
      decide: ({ name }) =>
        name === "refused"
          ? { kind: "deny", code: 422, reason: "Invalid", message: "Not this one." }
          : {
              kind: "allow",
              patch: [{ op: "add", path: "/metadata/labels", value: { seen: "yes" } }],
            },
    });
    await using stack = new AsyncDisposableStack();
    stack.use(server);
    stack.use(await register(cluster, "Mutating", { port, caPem, namespace: namespace.name }));
    let tries = 0;
    const labelled = await eventually(async (see) => {
      tries += 1;
      const response = see(await create(cluster, namespace.name, `c${tries}`));
      return response.object.metadata?.labels?.["seen"] === "yes" ? response : undefined;
    });
    expect(labelled.status).toBe(201);
    const refused = await create(cluster, namespace.name, "refused");
    expect(refused.status).toBe(422);
    expect(refused.object.message).toContain("Not this one.");
  });

  test("[runtime/RT-24] a fault of ours is an internal error to the user, not a refusal", async () => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "webhook");
    const { server, port, caPem } = await serve({
      kind: "admission",
      path: "/admit",
      decide: () => {
        throw new Error("a fault");
      },
    });
    await using stack = new AsyncDisposableStack();
    stack.use(server);
    stack.use(
      await register(cluster, "Validating", {
        port,
        caPem,
        namespace: namespace.name,
      }),
    );
    let tries = 0;
    const failed = await eventually(async (see) => {
      tries += 1;
      const response = see(await create(cluster, namespace.name, `c${tries}`));
      return response.status === 201 ? undefined : response;
    });
    expect(failed.status).toBe(500);
    expect(failed.object.message).toContain("failed calling webhook");
    expect(failed.object.message).not.toContain("denied the request");
  });

  test("[runtime/RT-23] a slow decision is answered before the API server gives up", async () => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "webhook");
    const { server, port, caPem } = await serve({
      kind: "admission",
      path: "/admit",
      decide: async () => await new Promise(() => undefined),
    });
    await using stack = new AsyncDisposableStack();
    stack.use(server);
    const target = { port, caPem, namespace: namespace.name, timeoutSeconds: 1 };
    stack.use(await register(cluster, "Validating", target));
    let tries = 0;
    const failed = await eventually(async (see) => {
      tries += 1;
      const response = see(await create(cluster, namespace.name, `c${tries}`));
      return response.status === 201 ? undefined : response;
    });
    // Go's words for our 504; had the server given up on its own, it would speak of a deadline exceeded.
    expect(failed.object.message).toContain("unable to return a response in the time allotted");
    expect(failed.object.message).not.toContain("deadline exceeded");
  });

  test("a conversion webhook turns stored objects into every served version", async () => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "webhook");
    const group = `g${randomBytes(4).toString("hex")}.example.org`;
    const moved = (from: string, to: string) => (object: object) => {
      const { [from]: value, ...rest } = (object as { spec: Record<string, unknown> }).spec;
      return { ...object, spec: { ...rest, [to]: value } } as never;
    };
    const convert = convertOverHub({
      hub: `${group}/v2`,
      spokes: { [`${group}/v1`]: { toHub: moved("size", "replicas"), fromHub: moved("replicas", "size") } },
    });
    const { server, port, caPem } = await serve({ kind: "conversion", path: "/convert", convert });
    await using stack = new AsyncDisposableStack();
    stack.use(server);
    const keepAll = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const schema = { openAPIV3Schema: { type: "object", properties: { spec: keepAll } } };
    await cluster.api.apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { kind: "Thing", plural: "things" },
        versions: [
          { name: "v1", served: true, storage: false, schema },
          { name: "v2", served: true, storage: true, schema },
        ],
        conversion: {
          strategy: "Webhook",
          webhook: {
            clientConfig: {
              url: `https://127.0.0.1:${port}/convert`,
              caBundle: Buffer.from(caPem).toString("base64"),
            },
            conversionReviewVersions: ["v1"],
          },
        },
      },
    });
    const path = (version: string): string => `/apis/${group}/${version}/namespaces/${namespace.name}/things`;
    const old = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "t" }, spec: { size: 3 } };
    await eventually(
      async (see) =>
        see(await cluster.api.send({ method: "POST", path: path("v1"), body: old })).status === 201,
    );
    const read = JSON.parse((await cluster.api.send({ path: `${path("v2")}/t` })).body) as { spec: object };
    expect(read.spec).toEqual({ replicas: 3 });
    const back = JSON.parse((await cluster.api.send({ path: `${path("v1")}/t` })).body) as { spec: object };
    expect(back.spec).toEqual({ size: 3 });
  });
});
