import { type DecideAdmission, IssuedCertificates, realSystem, WebhookServer } from "@quartermaster/runtime";
import { eventually } from "@quartermaster/testkit";

import { webhookConfigurations } from "./kinds.ts";
import { removing } from "./removing.ts";
import type { Workbench } from "./workbench.ts";

/** A validating webhook for the ConfigMaps of a workbench that fails closed. Registered, but not listening until told. */
export interface Webhook extends AsyncDisposable {
  /** Begins to answer. */
  listen(): Promise<void>;
}

/** Registers a webhook and waits until the API server has its CA. */
export async function registerWebhook(bench: Workbench, decide: DecideAdmission): Promise<Webhook> {
  const stack = new AsyncDisposableStack();
  const { client, namespace } = bench;
  const system = realSystem();
  const stopping = new AbortController();
  const certificates = new IssuedCertificates({
    client,
    system,
    secret: { namespace, name: "webhook-authority" },
    ipAddresses: ["127.0.0.1"],
    targets: [{ kind: "validating", name: namespace }],
  });
  stack.defer(() => stopping.abort());
  void certificates.run(stopping.signal);
  await certificates.ready();
  const port = await freePort(certificates);
  stack.use(removing(client, webhookConfigurations, { name: namespace }));
  await client.create(webhookConfigurations, configurationFor(namespace, port));
  certificates.refresh();
  await eventually(async () =>
    JSON.stringify(await client.get(webhookConfigurations, { name: namespace })).includes('"caBundle":"'),
  );
  return {
    listen: async () => {
      const routes = [{ kind: "admission", path: "/admit", decide } as const];
      const server = new WebhookServer({ system, certificates, port, host: "127.0.0.1", routes });
      stack.use(server);
      await server.listen();
    },
    [Symbol.asyncDispose]: async () => await stack[Symbol.asyncDispose](),
  };
}

async function freePort(certificates: IssuedCertificates): Promise<number> {
  await using server = new WebhookServer({
    system: realSystem(),
    certificates,
    port: 0,
    host: "127.0.0.1",
    routes: [],
  });
  return await server.listen();
}

function configurationFor(namespace: string, port: number) {
  const rule = {
    apiGroups: [""],
    apiVersions: ["v1"],
    operations: ["CREATE", "UPDATE"],
    resources: ["configmaps"],
  };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: namespace },
    webhooks: [
      {
        name: "configmaps.example.com",
        clientConfig: { url: `https://127.0.0.1:${port}/admit` },
        rules: [rule],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        failurePolicy: "Fail",
        timeoutSeconds: 5,
      },
    ],
  };
}
