import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";

import {
  eventually,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
  type PolicyRule,
  type SharedCluster,
} from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { issueCertificate } from "../../src/certificates/issue-certificate.ts";
import type { Kind } from "../../src/object/kind.ts";
import type { Domain, OperatorRole } from "../../src/run/domain.ts";
import { type OwnPermission, ownPermissions } from "../../src/run/own-permissions.ts";
import { configurationOwnerLabel } from "../../src/webhook/webhook-configuration.ts";
import { connect } from "../support/connect.ts";
import { configMaps } from "../support/kinds.ts";
import { Replica, saveAccess } from "../support/operator-replica.ts";
import { makeServing } from "../support/serving.ts";
import { makeTempDirectory } from "../support/temp-directory.ts";
import { serveWidgets, widgetKind } from "../support/widgets.ts";

/** Refuses ConfigMaps called `refused` and says how many widgets there are. */
function countingDomain(widgets: Kind, { name, namespace }: Record<"name" | "namespace", string>): Domain {
  return {
    name: "counting",
    permissions: [],
    controllers: () => [],
    webhooks: () => ({
      configurations: [
        {
          kind: "validating",
          name,
          webhooks: [
            {
              name: "configmaps.example.org",
              path: "/count",
              rules: [
                { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
              ],
              namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
              matchConditions: [{ name: "refused", expression: "object.metadata.name == 'refused'" }],
              failurePolicy: "Fail",
              sideEffects: "None",
            },
          ],
        },
      ],
      routes: ({ store }) => {
        const seen = store({ kind: widgets, namespace });
        return [
          {
            kind: "admission",
            path: "/count",
            decide: () => ({ kind: "deny", message: `there are ${seen.size} widgets` }),
          },
        ];
      },
    }),
  };
}

/** What the installation brings, empty: the operator and its webhook may create none of it. */
async function bringManifests(
  { api }: SharedCluster,
  { name, namespace }: Record<"name" | "namespace", string>,
): Promise<void> {
  const metadata = { name: "counter-webhook-ca", namespace };
  const core = `/api/v1/namespaces/${namespace}`;
  await api.apply(`${core}/secrets/${metadata.name}`, { apiVersion: "v1", kind: "Secret", metadata });
  await api.apply(`${core}/configmaps/${metadata.name}`, { apiVersion: "v1", kind: "ConfigMap", metadata });
  const labels = { [configurationOwnerLabel]: `${namespace}.counter` };
  await api.apply(`/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${name}`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name, labels },
  });
}

/** What the API server takes of it. */
function ruleOf({ apiGroups, resources, verbs, resourceNames }: OwnPermission): PolicyRule {
  return { apiGroups, resources, verbs, ...(resourceNames === undefined ? {} : { resourceNames }) };
}

async function freePort(): Promise<number> {
  await using server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("both roles work with exactly their own permissions; the webhook takes no lease and is ready with its stores", async () => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "role");
  await using directory = await makeTempDirectory();
  await using connected = connect(cluster.admin);
  const widgets = widgetKind();
  const name = `r${randomBytes(4).toString("hex")}`;
  await bringManifests(cluster, { name, namespace: namespace.name });
  const accessOf = async (role: OperatorRole, rules: readonly PolicyRule[]): Promise<string> => {
    const own = ownPermissions({
      name: "counter",
      namespace: namespace.name,
      configurations: [{ kind: "validating", name }],
    }).filter((each) => each.role === role);
    const account = await makeIdentity(cluster.api, cluster.admin, {
      namespace: namespace.name,
      rules: [...own.filter(({ isNamespaced }) => isNamespaced).map(ruleOf), ...rules],
      clusterRules: own.filter(({ isNamespaced }) => !isNamespaced).map(ruleOf),
    });
    return await saveAccess(account, join(directory.path, role));
  };
  const reads = { apiGroups: [widgets.group], resources: ["widgets"], verbs: ["get", "list", "watch"] };
  const kubeconfigPath = await accessOf("webhook", [reads]);
  const port = await freePort();
  const common = {
    name: "counter",
    lease: { namespace: namespace.name },
    domains: [countingDomain(widgets, { name, namespace: namespace.name })],
    webhook: {
      address: { url: `https://127.0.0.1:${port}` },
      namespace: namespace.name,
      port,
      host: "127.0.0.1",
      leaveMs: 5_000,
    },
  };
  await using webhook = new Replica({ ...common, roles: ["webhook"], config: { kubeconfigPath } });
  const unready = await eventually(async (see) => {
    const { status, text } = see(await webhook.probe());
    return text.includes("[+]certificate ok\n[+]webhook ok") ? { status, text } : undefined;
  });
  expect(unready).toMatchObject({
    status: 500,
    text: expect.stringContaining("[-]webhook-stores") as unknown,
  });
  await serveWidgets(connected.client, widgets);
  await eventually(async (see) => see(await webhook.probe()).status === 200, { withinMs: 60_000 });
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace.name}/leases/counter`;
  expect((await cluster.api.send({ path: leases })).status).toBe(404);

  const roles = ["controllers"] as const;
  const config = { kubeconfigPath: await accessOf("controllers", []) };
  const controllers = new Replica({ ...common, roles, config });
  const path = `/api/v1/namespaces/${namespace.name}/configmaps`;
  const refused = async (): Promise<string> => {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "refused" } };
    return (await cluster.api.send({ method: "POST", path: `${path}?dryRun=All`, body })).body;
  };
  await eventually(async (see) => see(await refused()).includes("there are 0 widgets"), { withinMs: 30_000 });
  expect((await cluster.api.send({ path: leases })).status).toBe(200);
  await controllers[Symbol.asyncDispose]();
  // No one leads now, and reviews are answered all the same.
  await connected.client.create(widgets, {
    apiVersion: `${widgets.group}/v1`,
    kind: "Widget",
    metadata: { name: "one", namespace: namespace.name },
    spec: {},
  });
  await eventually(async (see) => see(await refused()).includes("there are 1 widgets"));
  // What others need to trust us comes back when another client takes it away.
  const published = `${path}/counter-webhook-ca`;
  const contentType = "application/merge-patch+json";
  const emptied = { method: "PATCH", path: published, body: { data: null }, contentType } as const;
  expect((await cluster.api.send(emptied)).status).toBe(200);
  await eventually(async (see) => see((await cluster.api.send({ path: published })).body).includes("ca.crt"));
  // Asked to stop, it is not ready any more, and continues answering until the API server has heard of that.
  const stopping = webhook[Symbol.asyncDispose]();
  await eventually(async (see) => see(await webhook.probe()).text.includes("[-]webhook "));
  expect(await refused()).toContain("there are 1 widgets");
  await stopping;
  expect(await refused()).toContain("failed calling webhook");
  await cluster.api.send({
    method: "DELETE",
    path: `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${name}`,
  });
});

test("[first-use/8] a webhook that may not read what it decides by is not ready, and says why at /readyz", async () => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "barred");
  await using directory = await makeTempDirectory();
  await using connected = connect(cluster.admin);
  const widgets = widgetKind();
  await serveWidgets(connected.client, widgets);
  const account = await makeIdentity(cluster.api, cluster.admin, { namespace: namespace.name, rules: [] });
  const name = `r${randomBytes(4).toString("hex")}`;
  const port = await freePort();
  await using webhook = new Replica({
    name: "counter",
    domains: [countingDomain(widgets, { name, namespace: namespace.name })],
    roles: ["webhook"],
    webhook: {
      address: { url: `https://127.0.0.1:${port}` },
      namespace: namespace.name,
      port,
      host: "127.0.0.1",
    },
    config: { kubeconfigPath: await saveAccess(account, join(directory.path, "access")) },
  });
  const { status, text } = await eventually(async (see) => {
    const response = see(await webhook.probe());
    return response.text.includes("[!]") ? response : undefined;
  });
  expect(status).toBe(500);
  expect(text).toContain(
    `[!]webhook not ready, because its account may not list and watch Widget.${widgets.group}; grant the permissions\n`,
  );
});

test("one replica can have both roles, and a webhook that cannot listen ends the operator", async () => {
  using cluster = joinSharedCluster();
  await using namespace = await makeNamespace(cluster.api, "role");
  await using taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const replica = new Replica({
    name: "counter",
    roles: ["controllers", "webhook"],
    config: { kubeconfigPath: cluster.kubeconfigPath },
    webhook: {
      address: { url: `https://127.0.0.1:${port}` },
      namespace: namespace.name,
      port,
      host: "127.0.0.1",
    },
  });
  await expect(replica.ended).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("[security/44] a certificate that another program renews is served, and only callers of the given CAs are heard", async () => {
  using cluster = joinSharedCluster();
  await using directory = await makeTempDirectory();
  const { ca, certificates } = await makeServing();
  const pair = certificates.current();
  const files = {
    certificatePath: join(directory.path, "tls.crt"),
    keyPath: join(directory.path, "tls.key"),
  };
  await writeFile(files.certificatePath, pair?.certificatePem ?? "");
  await writeFile(files.keyPath, pair?.keyPem ?? "");
  const port = await freePort();
  const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  const caller = await issueCertificate(ca, {
    subject: { commonName: "api-server" },
    usages: ["client"],
    serial: "03",
    validity,
  });
  await using replica = new Replica({
    name: "counter",
    roles: ["webhook"],
    config: { kubeconfigPath: cluster.kubeconfigPath },
    domains: [countingDomain(configMaps, { name: "unused", namespace: "default" })],
    webhook: {
      address: { url: `https://127.0.0.1:${port}` },
      namespace: "default",
      port,
      host: "127.0.0.1",
      files,
      callerCaPem: ca.certificatePem,
    },
  });
  await eventually(async (see) => see(await replica.probe()).status === 200);
  const query = async (identity: object): Promise<number | undefined> => {
    const requested = request({
      host: "127.0.0.1",
      port,
      path: "/count",
      ca: ca.certificatePem,
      ...identity,
    });
    requested.end();
    const [response] = (await once(requested, "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  // Reviews are posted; that it says so shows that it listened to us.
  expect(await query({ cert: caller.certificatePem, key: caller.keyPem })).toBe(405);
  await expect(query({})).rejects.toThrow(/certificate required|hang up|ECONNRESET/i);
});
