import { randomBytes } from "node:crypto";

import {
  type AuditEntry,
  eventually,
  joinSharedCluster,
  makeNamespace,
  type SharedCluster,
  WRITING_VERBS,
} from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { issueCa } from "../../src/certificates/issue-certificate.ts";
import { createManager } from "../../src/manager/manager.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { configurationController } from "../../src/webhook/configuration-controller.ts";
import type { WebhookConfigurationSpec } from "../../src/webhook/webhook-configuration.ts";
import { connect } from "../support/connect.ts";
import { configMaps } from "../support/kinds.ts";

const system = realSystem();

function specOf(name: string, more: Partial<WebhookConfigurationSpec> = {}): WebhookConfigurationSpec {
  return {
    kind: "validating",
    name,
    webhooks: [
      {
        name: "things.example.org",
        path: "/things",
        rules: [
          {
            apiGroups: ["nothing.example.org"],
            apiVersions: ["v1"],
            operations: ["CREATE"],
            resources: ["x"],
          },
        ],
        failurePolicy: "Fail",
        sideEffects: "None",
      },
    ],
    ...more,
  };
}

interface Configuration {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: object;
    readonly ownerReferences?: readonly object[];
  };
  readonly webhooks?: readonly {
    readonly failurePolicy: string;
    readonly objectSelector: object;
    readonly clientConfig: { readonly url: string; readonly caBundle: string };
  }[];
}

function pathOf({ kind, name }: WebhookConfigurationSpec): string {
  return `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/${name}`;
}

async function read(
  cluster: SharedCluster,
  spec: WebhookConfigurationSpec,
): Promise<Configuration | undefined> {
  const { status, body } = await cluster.api.send({ path: pathOf(spec) });
  return status === 404 ? undefined : (JSON.parse(body) as Configuration);
}

function present(cluster: SharedCluster, spec: WebhookConfigurationSpec): Promise<Configuration> {
  return eventually(async () => await read(cluster, spec), { withinMs: 10_000 });
}

async function newBundle(): Promise<string> {
  const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  const { certificatePem } = await issueCa({ subject: { commonName: "ca" }, serial: "01", validity });
  return certificatePem;
}

test("a configuration waits for its bundle, is kept as wanted, and follows each new bundle", async () => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "configurations");
  await using connected = connect(cluster.admin);
  const always = specOf(`a${randomBytes(4).toString("hex")}`, { kind: "mutating" });
  const bundle = { namespace: namespace.name, name: "webhook-ca" };
  const controller = configurationController({
    configurations: [always],
    address: { url: "https://127.0.0.1:1" },
    bundle,
    owner: namespace.name,
  });
  await using manager = createManager({ transport: connected.transport, system, controllers: [controller] });
  await manager.ready();
  expect(await read(cluster, always)).toBeUndefined();

  const publish = async (pem: string): Promise<void> => {
    const path = `/api/v1/namespaces/${namespace.name}/configmaps/webhook-ca`;
    const data = { "ca.crt": pem };
    await cluster.api.apply(path, { apiVersion: "v1", kind: "ConfigMap", metadata: bundle, data });
  };
  const [first, second] = [await newBundle(), await newBundle()];
  await publish(first);
  const made = await present(cluster, always);
  expect(made.metadata.ownerReferences).toMatchObject([{ kind: "Namespace", name: namespace.name }]);
  expect(made.webhooks?.[0]?.clientConfig).toEqual({
    url: "https://127.0.0.1:1/things",
    caBundle: Buffer.from(first).toString("base64"),
  });

  await publish(second);
  const caBundle = Buffer.from(second).toString("base64");
  await eventually(
    async (see) => see(await read(cluster, always))?.webhooks?.[0]?.clientConfig.caBundle === caBundle,
    { withinMs: 10_000 },
  );

  // An exception that another client puts in, and a second webhook, go away again.
  const entry = { ...made.webhooks?.[0], name: "other.example.org" };
  const body = [
    { op: "replace", path: "/webhooks/0/objectSelector", value: { matchLabels: { exempt: "yes" } } },
    { op: "add", path: "/webhooks/-", value: entry },
  ];
  const contentType = "application/json-patch+json";
  const { status } = await cluster.api.send({ method: "PATCH", path: pathOf(always), body, contentType });
  expect(status).toBe(200);
  const restored = await eventually(
    async () => {
      const now = await read(cluster, always);
      return now?.webhooks?.length === 1 ? now : undefined;
    },
    { withinMs: 10_000 },
  );
  expect(restored.webhooks?.[0]?.objectSelector).toEqual({});

  // A label of others stays; it is ours to decide upon the webhooks only.
  const labelled = { metadata: { labels: { team: "a" } } };
  const merge = { contentType: "application/merge-patch+json", method: "PATCH" } as const;
  await cluster.api.send({ ...merge, path: pathOf(always), body: labelled });
  await publish(first);
  await eventually(
    async () =>
      (await read(cluster, always))?.webhooks?.[0]?.clientConfig.caBundle ===
      Buffer.from(first).toString("base64"),
  );
  expect((await read(cluster, always))?.metadata.labels).toMatchObject({ team: "a" });

  await cluster.api.send({ method: "DELETE", path: pathOf(always) });
  const again = await present(cluster, always);
  expect(again.metadata.uid).not.toBe(made.metadata.uid);

  // Our own write comes back as an event too; it must not lead to another one.
  await manager.informers.acquire({ kind: configMaps, namespace: namespace.name }).synced;
  expect(await read(cluster, always)).toEqual(again);
  await manager.stop();
  await cluster.api.send({ method: "DELETE", path: pathOf(always) });
});

test("a configuration has webhooks only while they are needed, and is emptied, never deleted", async () => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "configurations");
  await using connected = connect(cluster.admin);
  const request = { kind: configMaps, namespace: namespace.name, labelSelector: "inject=always" };
  const { webhooks: all } = specOf("all");
  const webhooks = {
    requests: [request],
    from: ([store]: readonly ({ readonly size: number } | undefined)[]) => {
      if (store === undefined || "requests" in all) return undefined;
      return store.size > 0 ? all : [];
    },
  };
  const sometimes = specOf(`b${randomBytes(4).toString("hex")}`, { webhooks });
  const taken = specOf(`c${randomBytes(4).toString("hex")}`, { webhooks });
  await cluster.api.apply(pathOf(taken), {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: taken.name },
    webhooks: [],
  });
  const foreign = await read(cluster, taken);
  const configMap = async (name: string, data: object, labels: object = {}): Promise<void> => {
    const metadata = { namespace: namespace.name, name, labels };
    const path = `/api/v1/namespaces/${namespace.name}/configmaps/${name}`;
    await cluster.api.apply(path, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
  };
  await configMap("webhook-ca", { "ca.crt": await newBundle() });
  const position = await cluster.audit.position();
  const controller = configurationController({
    configurations: [taken, sometimes],
    address: { service: { namespace: namespace.name, name: "webhook" } },
    bundle: { namespace: namespace.name, name: "webhook-ca" },
    owner: namespace.name,
  });
  await using manager = createManager({ transport: connected.transport, system, controllers: [controller] });
  await manager.ready();
  expect(await read(cluster, sometimes)).toBeUndefined();
  for (const round of [1, 2]) {
    await configMap(`needs-${round}`, {}, { inject: "always" });
    const size = async (): Promise<number> => (await read(cluster, sometimes))?.webhooks?.length ?? 0;
    await eventually(async () => (await size()) === 1, { withinMs: 10_000 });
    const path = `/api/v1/namespaces/${namespace.name}/configmaps/needs-${round}`;
    await cluster.api.send({ method: "DELETE", path });
    await eventually(async () => (await size()) === 0, { withinMs: 10_000 });
    expect(await read(cluster, sometimes)).toBeDefined();
  }
  // The one that is not ours was left alone, wanted or not.
  expect(await read(cluster, taken)).toEqual(foreign);
  const entries = await cluster.audit.since(position, { verbs: WRITING_VERBS });
  // Other tests write configurations of theirs meanwhile.
  const own = [sometimes.name, taken.name];
  const writes = entries.filter(
    ({ path, name = "" }) => path.includes("webhookconfigurations") && own.includes(name),
  );
  const named = ({ verb, name }: AuditEntry): string => (name === taken.name ? "taken" : verb);
  expect(writes.map(named)).toEqual(["create", "update", "update", "update"]);
  await manager.stop();
  await cluster.api.send({ method: "DELETE", path: pathOf(sometimes) });
  await cluster.api.send({ method: "DELETE", path: pathOf(taken) });
});

test("[packaging/PK-21] without its ClusterRole nothing is registered, with it the configuration belongs to it, and is deleted with it for good", async () => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "configurations");
  await using connected = connect(cluster.admin);
  const spec = specOf(`d${randomBytes(4).toString("hex")}`);
  const clusterRole = `owner-${spec.name}`;
  const ownerPath = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${clusterRole}`;
  const bundle = { namespace: namespace.name, name: "webhook-ca" };
  const data = { "ca.crt": await newBundle() };
  const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: bundle, data };
  await cluster.api.apply(`/api/v1/namespaces/${namespace.name}/configmaps/webhook-ca`, configMap);
  const controller = configurationController({
    configurations: [spec],
    address: { url: "https://127.0.0.1:1" },
    bundle,
    clusterRole,
    owner: namespace.name,
  });
  await using manager = createManager({ transport: connected.transport, system, controllers: [controller] });
  const position = await cluster.audit.position();
  const ownerReads = async (): Promise<number> =>
    (await cluster.audit.since(position)).filter(({ name, verb }) => name === clusterRole && verb === "get")
      .length;
  await manager.ready();
  await eventually(async () => (await ownerReads()) > 0, { withinMs: 10_000 });
  expect(await read(cluster, spec)).toBeUndefined();

  await cluster.api.apply(ownerPath, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: clusterRole },
    rules: [],
  });
  const made = await eventually(async () => await read(cluster, spec), { withinMs: 30_000 });
  expect(made.metadata.ownerReferences).toMatchObject([{ kind: "ClusterRole", name: clusterRole }]);

  await cluster.api.send({ method: "DELETE", path: ownerPath });
  await eventually(async () => (await read(cluster, spec)) === undefined, { withinMs: 60_000 });
  // Its deletion is an event, and leads to another look at the owner.
  const before = await ownerReads();
  await eventually(async () => (await ownerReads()) > before, { withinMs: 30_000 });
  expect(await read(cluster, spec)).toBeUndefined();
  await manager.stop();
});
