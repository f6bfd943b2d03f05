import {
  createClient,
  createTransport,
  IssuedCertificates,
  type JsonPatchOperation,
  loadConfig,
  realSystem,
  WebhookServer,
} from "@quartermaster/runtime";
import { mutatingWebhookConfigurations } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";

import type { InjectionBench } from "./replica.ts";

/** Another client's webhook that runs after ours and adds a container `late` to pods that have none. */
export async function addSidecars(bench: InjectionBench): Promise<AsyncDisposable> {
  return await interfere(bench, { patchFor: sidecarFor });
}

/** Another client's webhook that runs after ours and takes our mounts away; whether it is called again is its own choice. */
export async function removeMounts(
  bench: InjectionBench,
  reinvocationPolicy: "Never" | "IfNeeded",
): Promise<AsyncDisposable> {
  return await interfere(bench, { patchFor: removalFrom, reinvocationPolicy });
}

interface Interference {
  readonly patchFor: (object: unknown) => readonly JsonPatchOperation[];
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

async function interfere(
  bench: InjectionBench,
  { patchFor, reinvocationPolicy = "Never" }: Interference,
): Promise<AsyncDisposable> {
  const { cluster, namespace } = bench;
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
  let isRequested = false;
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
          decide: ({ object }) => {
            isRequested = true;
            return { kind: "allow", patch: patchFor(object) };
          },
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
        reinvocationPolicy,
      },
    ],
  });
  certificates.refresh();
  // The API server takes the CA from its own watch: only a review that arrives shows that it has.
  await eventually(async (see) => {
    see(await bench.pod("is-asked", { dryRun: true }));
    return isRequested;
  });
  return { [Symbol.asyncDispose]: async () => await stack.disposeAsync() };
}

interface SentPod {
  readonly spec: {
    readonly containers: readonly { readonly volumeMounts?: readonly { readonly name: string }[] }[];
  };
}

function removalFrom(object: unknown): readonly JsonPatchOperation[] {
  const { containers } = (object as SentPod).spec;
  return containers.flatMap(({ volumeMounts = [] }, at) => {
    const kept = volumeMounts.filter(({ name }) => !/^(?:etc-pki-entitlement|yum-repo)/.test(name));
    if (kept.length === volumeMounts.length) return [];
    return [{ op: "replace", path: `/spec/containers/${at}/volumeMounts`, value: kept } as const];
  });
}

function sidecarFor(object: unknown): readonly JsonPatchOperation[] {
  const { spec } = object as { spec: { containers: readonly { name: string }[] } };
  if (spec.containers.some(({ name }) => name === "late")) return [];
  const value = { name: "late", image: "registry.invalid/late" };
  return [{ op: "add", path: "/spec/containers/-", value } as const];
}
