import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  type DomainPermission,
  type Log,
  type OperatorRole,
  ownPermissions,
  run,
  type WebhookOptions,
} from "@quartermaster/runtime";
import {
  eventually,
  type Identity,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
  type SharedCluster,
} from "@quartermaster/testkit";

import { readSubscriptionSettings, subscriptionDomain } from "../../src/index.ts";

/** A response of the API server. */
export interface HttpResponse {
  readonly status: number;
  readonly object: ReviewedObject;
}

export interface ReviewedObject {
  readonly message?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly generation?: number;
    readonly annotations?: Record<string, string>;
  };
  readonly spec?: {
    readonly volumes?: readonly { readonly name: string }[];
    readonly containers?: readonly { readonly name: string; readonly volumeMounts?: readonly object[] }[];
    readonly ephemeralContainers?: readonly {
      readonly name: string;
      readonly volumeMounts?: readonly object[];
    }[];
  };
}

/** A namespace whose pods are injected by an operator with both roles, behind the real API server. */
export interface InjectionBench extends AsyncDisposable {
  readonly cluster: SharedCluster;
  readonly namespace: string;
  /** Where the operator has its CAs. */
  readonly operatorNamespace: string;
  /** A name for cluster-scoped objects that no other test has. */
  readonly unique: string;
  /** Who the operator speaks as, in the audit log. */
  readonly operator: string;
  /** Its ClusterRole. */
  readonly operatorRole: string;
  /** Who its webhook speaks as: the same, unless the accounts are apart. */
  readonly webhook: Identity;
  /** Where its webhook listens. */
  readonly port: number;
  send(method: "GET" | "POST" | "DELETE", path: string, body?: unknown): Promise<HttpResponse>;
  secret(name: string, ...keys: readonly string[]): Promise<void>;
  configMap(name: string, ...keys: readonly string[]): Promise<void>;
  bundle(name: string, spec: object, labels?: object): Promise<HttpResponse>;
  clusterBundle(name: string, spec: object, status?: object): Promise<HttpResponse>;
  /** Creates a pod; annotations without our domain. */
  pod(
    name: string,
    options?: { annotations?: Record<string, string>; spec?: object; dryRun?: boolean },
  ): Promise<HttpResponse>;
  metrics(): Promise<string>;
  /** Ends the operator; its webhook configuration stays. */
  stop(): Promise<void>;
}

const group = "/apis/subscription.openshift.io/v1alpha1";

/** Rules that the domain declares, for one account with both roles or for one role. */
function declaredRules(isNeeded: (permission: DomainPermission) => boolean = () => true) {
  return subscriptionDomain({})
    .permissions.filter(isNeeded)
    .map(({ apiGroups, resources, verbs }) => ({ apiGroups, resources, verbs }));
}

/** The webhook's account as config/rbac/webhook.yaml makes it, and what deploy/webhook.yaml brings for it. */
async function makeWebhookIdentity(cluster: SharedCluster, namespace: string): Promise<Identity> {
  const metadata = { name: "quartermaster-webhook-ca", namespace };
  const core = `/api/v1/namespaces/${namespace}`;
  await cluster.api.apply(`${core}/secrets/${metadata.name}`, { apiVersion: "v1", kind: "Secret", metadata });
  await cluster.api.apply(`${core}/configmaps/${metadata.name}`, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata,
  });
  const own = ownPermissions({ name: "quartermaster", namespace, configurations: [] });
  return await makeIdentity(cluster.api, cluster.admin, {
    namespace,
    name: "quartermaster-webhook",
    clusterRules: declaredRules(({ role }) => role === "webhook"),
    rules: own
      .filter(({ role, isNamespaced }) => role === "webhook" && isNamespaced)
      .map(({ apiGroups, resources, verbs, resourceNames = ["none"] }) => ({
        apiGroups,
        resources,
        verbs,
        resourceNames,
      })),
  });
}

/** What `run` needs on its own besides. */
const ownRules = [
  {
    apiGroups: ["admissionregistration.k8s.io"],
    resources: ["mutatingwebhookconfigurations"],
    verbs: ["get", "list", "watch", "create", "update", "delete"],
  },
  { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
  { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
];

const caRules = [
  {
    apiGroups: [""],
    resources: ["secrets", "configmaps"],
    verbs: ["get", "list", "watch", "create", "update", "patch"],
  },
];

/** What a test may change about the webhook, e.g. whose certificates it serves with. */
export type PrepareWebhook = (
  operatorNamespace: string,
  cluster: SharedCluster,
) => Promise<Partial<WebhookOptions>>;

/** How the operator reaches the API server, e.g. through a proxy that does harm. */
export type Detour = (identity: Identity) => Promise<Pick<Identity, "server" | "caPem">>;

/** How the operator runs. */
export interface RunningOptions {
  readonly through?: Detour;
  /** Whether controllers and webhook have accounts of their own, as in a cluster. */
  readonly hasTwoAccounts?: boolean;
}

/** Starts an operator for a namespace of its own and waits until its webhook is queried. */
export async function startInjection(
  settings: object = {},
  prepare: PrepareWebhook = async () => await Promise.resolve({}),
  { through = async (given) => await Promise.resolve(given), hasTwoAccounts = false }: RunningOptions = {},
): Promise<InjectionBench> {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(joinSharedCluster());
  const { name: namespace } = stack.use(await makeNamespace(cluster.api, "inject"));
  // The CA's Secret is the operator's own: in a namespace of its own.
  const { name: operatorNamespace } = stack.use(await makeNamespace(cluster.api, "injector"));
  const identity = await makeIdentity(cluster.api, cluster.admin, {
    namespace: operatorNamespace,
    rules: caRules,
    clusterRules: [...declaredRules(), ...ownRules],
  });
  const webhook = hasTwoAccounts ? await makeWebhookIdentity(cluster, operatorNamespace) : identity;
  const directory = await mkdtemp(join(tmpdir(), "inject-"));
  stack.defer(async () => await rm(directory, { recursive: true }));
  const saveAccess = async (who: Identity): Promise<string> => {
    const path = join(directory, who.serviceAccount);
    await writeFile(path, kubeconfigOf({ ...who, ...(await through(who)) }));
    return path;
  };
  const port = await freePort();
  const prepared = await prepare(operatorNamespace, cluster);
  const stopping = new AbortController();
  const noted: Record<string, unknown>[] = [];
  const note = (_message: string, fields: object = {}): void => {
    noted.push({ ...fields });
  };
  const log: Log = { isDebug: true, debug: note, info: note, warn: note, error: note, with: () => log };
  const start = async (who: Identity, roles: readonly OperatorRole[]): Promise<void> => {
    await run({
      name: "quartermaster",
      domains: [subscriptionDomain({ settings: readSubscriptionSettings(settings), operatorNamespace })],
      roles,
      namespace,
      config: { kubeconfigPath: await saveAccess(who) },
      webhook: {
        address: { url: `https://127.0.0.1:${port}` },
        namespace: operatorNamespace,
        port,
        host: "127.0.0.1",
        ...prepared,
      },
      port: 0,
      host: "127.0.0.1",
      log,
      signal: stopping.signal,
    });
  };
  const ended = hasTwoAccounts
    ? Promise.all([start(identity, ["controllers"]), start(webhook, ["webhook"])])
    : start(identity, ["controllers", "webhook"]);
  stack.defer(async () => {
    // The configuration goes first: what is left of a webhook that does not answer would refuse pods.
    for (const suffix of ["", "-auto"])
      await cluster.api.send({
        method: "DELETE",
        path: `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/quartermaster-subscription-${namespace}${suffix}`,
      });
  });
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  stack.defer(stop);
  const send: InjectionBench["send"] = async (method, path, body) => {
    const response = await cluster.api.send({
      method,
      path,
      timeoutMs: 20_000,
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, object: JSON.parse(response.body) as ReviewedObject };
  };
  const core = `/api/v1/namespaces/${namespace}`;
  const unique = `u${randomBytes(4).toString("hex")}`;
  const bench: InjectionBench = {
    cluster,
    namespace,
    operatorNamespace,
    unique,
    operator: identity.user,
    operatorRole: `${operatorNamespace}-${identity.serviceAccount}`,
    webhook,
    port,
    send,
    secret: async (name, ...keys) => {
      const stringData = Object.fromEntries(keys.map((key) => [key, "value"]));
      await cluster.api.apply(`${core}/secrets/${name}`, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name },
        stringData,
      });
    },
    configMap: async (name, ...keys) => {
      const data = Object.fromEntries(keys.map((key) => [key, "value"]));
      await cluster.api.apply(`${core}/configmaps/${name}`, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name },
        data,
      });
    },
    bundle: async (name, spec, labels = {}) =>
      await send("POST", `${group}/namespaces/${namespace}/bundles`, {
        apiVersion: "subscription.openshift.io/v1alpha1",
        kind: "Bundle",
        metadata: { name, labels },
        spec,
      }),
    clusterBundle: async (name, spec, status) => {
      stack.defer(async () => {
        await send("DELETE", `${group}/clusterbundles/${name}`);
      });
      const metadata = { name };
      const head = { apiVersion: "subscription.openshift.io/v1alpha1", kind: "ClusterBundle", metadata };
      const made = await send("POST", `${group}/clusterbundles`, { ...head, spec });
      if (status === undefined) return made;
      return await patchStatus(cluster, name, status);
    },
    pod: async (name, { annotations = {}, spec = {}, dryRun = false } = {}) => {
      const full = Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [`subscription.openshift.io/${key}`, value]),
      );
      return await send("POST", `${core}/pods${dryRun ? "?dryRun=All" : ""}`, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, annotations: full },
        spec: { containers: [{ name: "main", image: "registry.invalid/ubi" }], ...spec },
      });
    },
    metrics: async () => {
      const metricsPort = noted.find((each) => "metricsPort" in each)?.["metricsPort"];
      return await (await fetch(`http://127.0.0.1:${String(metricsPort)}/metrics`)).text();
    },
    stop,
    [Symbol.asyncDispose]: async () => await stack.disposeAsync(),
  };
  await eventually(
    async (see) => {
      const annotations = { "inject-bundle": "no-such-bundle" };
      const probe = see(await bench.pod("probe", { annotations, dryRun: true }));
      return probe.object.message?.includes("BundleNotFound") === true;
    },
    { withinMs: 90_000 },
  );
  return bench;
}

async function patchStatus(cluster: SharedCluster, name: string, status: object): Promise<HttpResponse> {
  const response = await cluster.api.send({
    method: "PATCH",
    path: `${group}/clusterbundles/${name}/status`,
    body: { status },
    contentType: "application/merge-patch+json",
  });
  return { status: response.status, object: JSON.parse(response.body) as ReviewedObject };
}

function kubeconfigOf({ server, caPem, token }: { server: string; caPem: string; token: string }): string {
  const cluster = { server, "certificate-authority-data": Buffer.from(caPem).toString("base64") };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    clusters: [{ name: "test", cluster }],
    users: [{ name: "test", user: { token } }],
  });
}

async function freePort(): Promise<number> {
  await using server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
