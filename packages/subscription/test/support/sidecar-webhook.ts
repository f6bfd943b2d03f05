import {
  createClient,
  createTransport,
  IssuedCertificates,
  loadConfig,
  realSystem,
  WebhookServer,
} from "@quartermaster/runtime";
import { mutatingWebhookConfigurations } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";

import type { InjectionBench } from "./replica.ts";

/** Somebody else's webhook that runs after ours and adds a container `late` to pods that have none. */
export async function addSidecars({ cluster, namespace }: InjectionBench): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const system = realSystem();
  const config = await loadConfig({ system, kubeconfigPath: cluster.kubeconfigPath });
  const client = createClient({ transport: stack.use(createTransport({ config, system })) });
  const name = `zz-${namespace}`;
  const stopping = new AbortController();
  stack.defer(() => stopping.abort());
  const certificates = new IssuedCertificates({
    client,
    system,
    secret: { namespace, name: "sidecar-authority" },
    ipAddresses: ["127.0.0.1"],
    targets: [{ kind: "mutating", name }],
  });
  void certificates.run(stopping.signal);
  await certificates.ready();
  const server = stack.use(
    new WebhookServer({
      system,
      certificates,
      port: 0,
      host: "127.0.0.1",
      routes: [
        {
          kind: "admission",
          path: "/sidecar",
          decide: ({ object }) => ({ kind: "allow", patch: patchFor(object) }),
        },
      ],
    }),
  );
  const port = await server.listen();
  stack.defer(async () => await client.delete(mutatingWebhookConfigurations, { name }));
  await client.create(mutatingWebhookConfigurations, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name },
    webhooks: [
      {
        name: "sidecar.example.com",
        clientConfig: { url: `https://127.0.0.1:${port}/sidecar` },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        failurePolicy: "Fail",
      },
    ],
  });
  certificates.refresh();
  await eventually(async () =>
    JSON.stringify(await client.get(mutatingWebhookConfigurations, { name })).includes('"caBundle":"'),
  );
  return { [Symbol.asyncDispose]: async () => await stack.disposeAsync() };
}

function patchFor(object: unknown) {
  const { spec } = object as { spec: { containers: readonly { name: string }[] } };
  if (spec.containers.some(({ name }) => name === "late")) return [];
  const value = { name: "late", image: "registry.invalid/late" };
  return [{ op: "add", path: "/spec/containers/-", value } as const];
}
