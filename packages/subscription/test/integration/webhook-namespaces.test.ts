import { ALWAYS_INJECT_LABEL, bundle } from "@quartermaster/api";
import {
  configurationController,
  createManager,
  IssuedCertificates,
  realSystem,
  type WebhookConfigurationSpec,
  WebhookServer,
} from "@quartermaster/runtime";
import { connect, eventually, joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { podWebhookPath } from "../../src/pod-webhook.ts";
import { webhookEntries } from "../../src/webhook-entries.ts";

/** The shipped configuration for automatic bundles under a name of its own, for bundles with a label of its own. */
function automatic(unique: string): WebhookConfigurationSpec {
  const [, spec] = webhookEntries({ excludedNamespaces: ["kube-system"] });
  if (spec === undefined || !("requests" in spec.webhooks)) throw new Error("not derived");
  const { requests, from } = spec.webhooks;
  const own = requests.map((request) => ({
    ...request,
    labelSelector: `${request.labelSelector ?? ""},test=${unique}`,
  }));
  return { ...spec, name: `auto-${unique}`, webhooks: { requests: own, from } };
}

test("[security/123] the webhook is called for pods of the namespaces that have an always-inject Bundle, and of no others", async () => {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(joinSharedCluster());
  const { client, transport } = stack.use(connect(cluster.admin));
  const { name: one } = stack.use(await makeNamespace(cluster.api, "auto"));
  const { name: other } = stack.use(await makeNamespace(cluster.api, "auto"));
  const system = realSystem();
  const ca = { namespace: one, name: "webhook-ca" };
  const stopping = new AbortController();
  stack.defer(() => {
    stopping.abort();
  });
  const certificates = new IssuedCertificates({
    client,
    system,
    secret: ca,
    ipAddresses: ["127.0.0.1"],
    targets: [{ kind: "configMap", ...ca }],
  });
  void certificates.run(stopping.signal);
  await certificates.ready();
  const called: string[] = [];
  const server = stack.use(
    new WebhookServer({
      system,
      certificates,
      port: 0,
      host: "127.0.0.1",
      routes: [
        {
          kind: "admission",
          path: podWebhookPath,
          decide: ({ namespace = "" }) => {
            called.push(namespace);
            return { kind: "allow" };
          },
        },
      ],
    }),
  );
  const address = { url: `https://127.0.0.1:${await server.listen()}` };
  const configuration = automatic(one);
  stack.defer(async () => {
    const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${configuration.name}`;
    await cluster.api.send({ method: "DELETE", path });
  });
  const controller = configurationController({
    configurations: [configuration],
    address,
    bundle: ca,
    owner: one,
  });
  const manager = stack.use(createManager({ transport, system, controllers: [controller] }));
  await manager.ready();

  const isCalled = async (namespace: string): Promise<boolean> => {
    called.length = 0;
    const spec = { containers: [{ name: "main", image: "registry.invalid/ubi" }] };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec };
    const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
    expect((await cluster.api.send({ method: "POST", path, body })).status).toBe(201);
    return called.includes(namespace);
  };
  const labelled = async (namespace: string): Promise<void> => {
    const labels = { [ALWAYS_INJECT_LABEL]: "true", test: one };
    await client.create(bundle.kind, {
      apiVersion: "subscription.openshift.io/v1alpha1",
      kind: "Bundle",
      metadata: { name: "always", namespace, labels },
      spec: { entitlements: [{ name: "s1", optional: false }] },
    });
  };
  expect(await isCalled(one)).toBe(false);
  await labelled(one);
  await eventually(async () => await isCalled(one));
  expect(await isCalled(other)).toBe(false);
  await labelled(other);
  await eventually(async () => await isCalled(other));
  expect(await isCalled(one)).toBe(true);
  await client.delete(bundle.kind, { namespace: one, name: "always" });
  await eventually(async () => !(await isCalled(one)));
  expect(await isCalled(other)).toBe(true);
  await manager.stop();
});
