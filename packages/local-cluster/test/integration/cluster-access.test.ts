import { createServer } from "node:https";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { ApiClient } from "../../src/api/api-client.ts";
import type { LocalCluster } from "../../src/index.ts";
import { startLocalCluster } from "../../src/index.ts";
import { createCa } from "../../src/pki/cluster-credentials.ts";
import { realSystem } from "../../src/system/system.ts";
import { eventually } from "./eventually.ts";

describe("a running control plane", () => {
  let cluster: LocalCluster;
  let admin: ApiClient;

  beforeAll(async () => {
    cluster = await startLocalCluster({ kwokNodes: 2, audit: "Metadata" });
    admin = new ApiClient(cluster.admin);
  });

  afterAll(async () => {
    admin[Symbol.dispose]();
    await cluster.stop();
  });

  async function as(token: string | undefined, path: string): Promise<number> {
    const { server, caPem } = cluster.admin;
    using client = new ApiClient({ server, caPem, ...(token === undefined ? {} : { token }) });
    return (await client.send({ path })).status;
  }

  async function tokenOf(namespace: string, account: string): Promise<string> {
    const reply = await admin.send({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
    });
    return (JSON.parse(reply.body) as { status: { token: string } }).status.token;
  }

  async function get(
    path: string,
  ): Promise<{ readonly status: number; readonly object: Record<string, unknown> }> {
    const reply = await admin.send({ path });
    return { status: reply.status, object: JSON.parse(reply.body) as Record<string, unknown> };
  }

  test("[local-cluster/LC-10] answers 401 to no one and to a token of another cluster", async () => {
    await using other = await startLocalCluster();
    expect(await as(undefined, "/api/v1/namespaces")).toBe(401);
    expect(await as(other.admin.token, "/api/v1/namespaces")).toBe(401);
    expect(await as(cluster.admin.token, "/api/v1/namespaces")).toBe(200);
    using foreign = new ApiClient(other.admin);
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const issued = await foreign.send({
      method: "POST",
      path: "/api/v1/namespaces/default/serviceaccounts/default/token",
      body: request,
    });
    const { status } = JSON.parse(issued.body) as { status: { token: string } };
    expect(await as(status.token, "/api/v1/namespaces")).toBe(401);
  });

  test("[local-cluster/LC-11] refuses a service account until a binding gives it the right", async () => {
    const token = await tokenOf("default", "default");
    expect(await as(token, "/api/v1/namespaces/default/pods")).toBe(403);
    const bound = await cluster.kubectl([
      "create",
      "rolebinding",
      "look",
      "--clusterrole=view",
      "--serviceaccount=default:default",
    ]);
    expect(bound.code, bound.stderr).toBe(0);
    await eventually(
      async () => ((await as(token, "/api/v1/namespaces/default/pods")) === 200 ? true : undefined),
      () => "still 403",
    );
  });

  test("[local-cluster/LC-12] collects the dependents of a deleted owner", async () => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner", namespace: "default" } };
    await admin.apply("/api/v1/namespaces/default/configmaps/owner", owner);
    const { object } = await get("/api/v1/namespaces/default/configmaps/owner");
    const { uid } = object["metadata"] as { uid: string };
    await admin.apply("/api/v1/namespaces/default/configmaps/dependent", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "dependent",
        namespace: "default",
        ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }],
      },
    });
    await admin.send({ method: "DELETE", path: "/api/v1/namespaces/default/configmaps/owner" });
    await eventually(
      async () =>
        (await get("/api/v1/namespaces/default/configmaps/dependent")).status === 404 ? true : undefined,
      () => "the dependent is still there",
    );
  });

  test("[local-cluster/LC-13] runs a simulated Deployment, completes a Job and fails the one that is annotated to fail", async () => {
    const template = (annotations: Record<string, string>): object => ({
      metadata: { labels: { app: "named" }, annotations },
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "nowhere.invalid/none:1" }] },
    });
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "three", namespace: "default" },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "three" } },
        template: {
          metadata: { labels: { app: "three" } },
          spec: { containers: [{ name: "main", image: "nowhere.invalid/none:1" }] },
        },
      },
    };
    const job = (name: string, annotations: Record<string, string>): object => ({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name, namespace: "default" },
      spec: { backoffLimit: 0, template: template(annotations) },
    });
    await admin.apply("/apis/apps/v1/namespaces/default/deployments/three", deployment);
    await admin.apply("/apis/batch/v1/namespaces/default/jobs/good", job("good", {}));
    await admin.apply(
      "/apis/batch/v1/namespaces/default/jobs/bad",
      job("bad", { "local-cluster.quartermaster.dev/outcome": "fail" }),
    );
    let last = "";
    await eventually(
      async () => {
        const states = await Promise.all([
          get("/apis/apps/v1/namespaces/default/deployments/three"),
          get("/apis/batch/v1/namespaces/default/jobs/good"),
          get("/apis/batch/v1/namespaces/default/jobs/bad"),
        ]);
        const [three, good, bad] = states.map(
          ({ object }) => (object["status"] ?? {}) as Record<string, unknown>,
        );
        last = JSON.stringify({ three, good, bad });
        return three?.["readyReplicas"] === 3 && good?.["succeeded"] === 1 && bad?.["failed"] === 1
          ? true
          : undefined;
      },
      () => last,
    );
  });

  test("[first-use/19] schedules a pod that requests ephemeral storage on a simulated node", async () => {
    const resources = { requests: { cpu: "100m", memory: "64Mi", "ephemeral-storage": "1Gi" } };
    const containers = [{ name: "main", image: "nowhere.invalid/none:1", resources }];
    await admin.send({
      method: "POST",
      path: "/api/v1/namespaces/default/pods",
      body: { apiVersion: "v1", kind: "Pod", metadata: { name: "stores" }, spec: { containers } },
    });
    let phase: string | undefined;
    await eventually(
      async () => {
        const { object } = await get("/api/v1/namespaces/default/pods/stores");
        ({ phase } = object["status"] as { readonly phase?: string });
        return phase === "Running" ? true : undefined;
      },
      () => `the pod is ${String(phase)}`,
    );
    expect(phase).toBe("Running");
  });

  test("[local-cluster/LC-15] calls a mutating webhook on loopback and trusts it by its CA", async () => {
    const ca = await createCa("webhook", realSystem);
    const { certificatePem, keyPem } = await ca.issue({
      commonName: "webhook",
      ipAddresses: ["127.0.0.1"],
      usage: "server",
    });
    await using webhook = await serveLabeller(certificatePem, keyPem);
    const registration = (name: string, caPem: string): object => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: { name },
      webhooks: [
        {
          name: "label.example.com",
          clientConfig: {
            url: `https://127.0.0.1:${webhook.port}/`,
            caBundle: Buffer.from(caPem).toString("base64"),
          },
          rules: [
            { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
          ],
          objectSelector: { matchLabels: { webhook: name } },
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
        },
      ],
    });
    const stranger = await createCa("stranger", realSystem);
    await admin.apply(
      "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/trusted",
      registration("trusted", ca.certificatePem),
    );
    await admin.apply(
      "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/distrusted",
      registration("distrusted", stranger.certificatePem),
    );
    let last = "";
    const create = async (
      webhookName: string,
      name: string,
    ): Promise<{ readonly status: number; readonly labels: Record<string, string> }> => {
      const body = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, labels: { webhook: webhookName } },
      };
      const reply = await admin.send({
        method: "POST",
        path: "/api/v1/namespaces/default/configmaps",
        body,
      });
      last = reply.body;
      return {
        status: reply.status,
        labels:
          (JSON.parse(reply.body) as { metadata?: { labels?: Record<string, string> } }).metadata?.labels ??
          {},
      };
    };
    let count = 0;
    await eventually(
      async () =>
        (await create("trusted", `mutated-${(count += 1)}`)).labels["seen"] === "true" ? true : undefined,
      () => last,
    );
    await eventually(
      async () => {
        const { status } = await create("distrusted", `refused-${(count += 1)}`);
        return status === 500 && last.includes("certificate") ? true : undefined;
      },
      () => last,
    );
  });
});

interface Labeller extends AsyncDisposable {
  readonly port: number;
}

/** A webhook that labels everything it is shown. */
async function serveLabeller(cert: string, key: string): Promise<Labeller> {
  const patch = Buffer.from(
    JSON.stringify([{ op: "add", path: "/metadata/labels/seen", value: "true" }]),
  ).toString("base64");
  const server = createServer({ cert, key }, (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const { uid } = (JSON.parse(body) as { request: { uid: string } }).request;
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          apiVersion: "admission.k8s.io/v1",
          kind: "AdmissionReview",
          response: { uid, allowed: true, patchType: "JSONPatch", patch },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
