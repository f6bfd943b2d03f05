import { request } from "node:http";
import { text } from "node:stream/consumers";
import { connect, type ConnectionOptions, type PeerCertificate } from "node:tls";

import { issueCa, issueCertificate, type Subject } from "@quartermaster/runtime/certificates";
import {
  eventually,
  type LocalCluster,
  type PodReach,
  provideEngineImage,
  reachPods,
  startLocalCluster,
} from "@quartermaster/testkit";
import { z } from "zod";

import { adminSubject, clusterNames, nodeSubject } from "../../src/model/cluster-names.ts";
import { podNames, type SearchCluster } from "../../src/model/search-cluster.ts";
import { bootstrapConfigMap, clusterConfigMaps } from "../../src/workload/cluster-config-maps.ts";
import { clusterServices } from "../../src/workload/cluster-services.ts";
import { poolInputsHash } from "../../src/workload/pool-inputs-hash.ts";
import { poolStatefulSet } from "../../src/workload/pool-stateful-set.ts";

/** A certificate and its key, in PEM. */
export type CertifiedKey = Awaited<ReturnType<typeof issueCa>>;

/** Heap and compiler for tests: three nodes on two cores. */
export const leanJvm = "-Xms384m -Xmx384m -XX:TieredStopAtLevel=1 -XX:-AlwaysPreTouch";

/** An engine's answer. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** How to ask. */
export interface Query {
  readonly method?: string;
  readonly body?: unknown;
  /** `user:password`; without it the administrator's certificate speaks. */
  readonly login?: string;
}

/** An engine as pods of a local cluster, made by hand: what an operator would do, and nothing more. */
export interface EnginePods extends AsyncDisposable {
  readonly cluster: LocalCluster;
  readonly pods: PodReach;
  readonly ca: CertifiedKey;
  /** Runs kubectl in the engine's namespace; throws on failure. */
  kubectl(...args: readonly string[]): Promise<string>;
  apply(...objects: readonly object[]): Promise<void>;
  /** Asks a pod, by its address, or whatever else has one. */
  request(host: string, path: string, question?: Query): Promise<Reply>;
  /** What a pod serves to clients now. */
  served(host: string): Promise<PeerCertificate>;
  issue(subject: Subject): Promise<CertifiedKey>;
  podIp(name: string): Promise<string>;
  /** Waits until the pod's engine accepts connections; fails immediately, with its log, when a container of it fails. */
  untilStarted(name: string): Promise<void>;
}

/** Starts real nodes, and on them the pods of the engine in a namespace that enforces the restricted profile. */
export async function startEnginePods(
  search: SearchCluster,
  { nodes = 2, objects = [] }: { readonly nodes?: number; readonly objects?: readonly object[] } = {},
): Promise<EnginePods> {
  const { distribution, version } = search;
  const image = await provideEngineImage({ engine: distribution, version, report: printNotes });
  const cluster = await startLocalCluster({ nodes, images: [image.directory] });
  try {
    const made = await assemble(cluster, search);
    await made.apply(...objects, ...objectsOf(search));
    return made;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

function printNotes(event: { readonly kind: string; readonly text?: string }): void {
  if (event.kind === "note") process.stderr.write(`${event.text ?? ""}\n`);
}

/** What lane F and N would apply. */
function objectsOf(search: SearchCluster): readonly object[] {
  const managers = search.pools.filter(({ roles }) => roles.includes("cluster_manager"));
  return [
    ...clusterServices(search),
    ...clusterConfigMaps(search),
    bootstrapConfigMap(
      search,
      managers.flatMap((pool) => podNames(search, pool)),
    ),
    ...search.pools.map((pool) =>
      poolStatefulSet(search, pool, {
        inputsHash: poolInputsHash(search, pool, { keystore: {}, volumes: {} }),
      }),
    ),
  ];
}

let serial = 0x10;
const validity = { notBeforeMs: Date.UTC(2020, 0, 1), notAfterMs: Date.UTC(2045, 0, 1) };

async function assemble(cluster: LocalCluster, search: SearchCluster): Promise<EnginePods> {
  const pods = await reachPods(cluster.directory);
  const ca = await issueCa({
    subject: { commonName: search.name, organizationalUnits: ["authority"] },
    serial: "01",
    validity,
  });
  const issue = async (subject: Subject): Promise<CertifiedKey> =>
    await issueCertificate(ca, {
      subject,
      usages: ["server", "client"],
      dnsNames: [search.serviceName],
      serial: (serial += 1).toString(16),
      validity,
    });
  const admin = await issue(adminSubject(search));
  const kubectl = async (...args: readonly string[]): Promise<string> => await run(cluster, search, { args });
  const apply = async (...objects: readonly object[]): Promise<void> => {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    await run(cluster, search, { args: ["apply", "--server-side", "--force-conflicts", "-f", "-"], input });
  };
  const secure = { ca: ca.certificatePem, servername: search.serviceName };
  await apply(namespaceOf(search), ...(await certificatesOf(search, { issue, ca })));
  return {
    cluster,
    pods,
    ca,
    kubectl,
    apply,
    issue,
    request: async (host, path, question = {}) => {
      const socket = await pods.dial({ host, port: search.httpPort });
      const client = question.login === undefined ? { cert: admin.certificatePem, key: admin.keyPem } : {};
      return await requestOver({ ...secure, ...client, socket }, path, question);
    },
    served: async (host) => {
      const tls = connect({ ...secure, socket: await pods.dial({ host, port: search.httpPort }) });
      await new Promise((resolve, reject) => tls.once("secureConnect", resolve).once("error", reject));
      const certificate = tls.getPeerCertificate();
      tls.destroy();
      return certificate;
    },
    podIp: async (name) =>
      await eventually(
        async () => (await kubectl("get", "pod", name, "-o", "jsonpath={.status.podIP}")) || undefined,
      ),
    untilStarted: async (name) => await untilStarted(name, kubectl),
    [Symbol.asyncDispose]: async () => await cluster.stop(),
  };
}

const podSchema = z.object({
  status: z.object({
    initContainerStatuses: z.array(containerSchema()).default([]),
    containerStatuses: z.array(containerSchema()).default([]),
  }),
});

function containerSchema(): z.ZodObject<{
  name: z.ZodString;
  restartCount: z.ZodNumber;
  started: z.ZodOptional<z.ZodBoolean>;
}> {
  return z.object({ name: z.string(), restartCount: z.number(), started: z.boolean().optional() });
}

/** An engine that dies at its start would otherwise cost the whole wait, and no one would know why. */
async function untilStarted(name: string, kubectl: EnginePods["kubectl"]): Promise<void> {
  const failed = await eventually(
    async (see) => {
      const { status } = podSchema.parse(see(JSON.parse(await kubectl("get", "pod", name, "-o", "json"))));
      const broken = [...status.initContainerStatuses, ...status.containerStatuses].find(
        ({ restartCount }) => restartCount > 0,
      );
      if (broken !== undefined) return broken;
      return status.containerStatuses[0]?.started === true ? "none" : undefined;
    },
    { withinMs: 5 * 60_000, everyMs: 500 },
  );
  if (failed === "none") return;
  const log = await kubectl("logs", name, "-c", failed.name, "--previous", "--tail=120");
  throw new Error(`container ${failed.name} of pod ${name} failed:\n${log}`);
}

function namespaceOf({ namespace }: SearchCluster): object {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } };
}

/** A Secret with a certificate as lane C writes it. */
export function certificateSecret(
  search: SearchCluster,
  name: string,
  { certificate: cert, trust }: { readonly certificate: CertifiedKey; readonly trust: string },
): object {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: search.namespace },
    type: "kubernetes.io/tls",
    stringData: { "tls.crt": cert.certificatePem, "tls.key": cert.keyPem, "ca.crt": trust },
  };
}

async function certificatesOf(
  search: SearchCluster,
  { issue, ca }: Pick<EnginePods, "issue" | "ca">,
): Promise<readonly object[]> {
  const { transportCertificate, httpCertificate } = clusterNames(search);
  const trust = ca.certificatePem;
  return [
    certificateSecret(search, transportCertificate, { certificate: await issue(nodeSubject(search)), trust }),
    certificateSecret(search, httpCertificate, { certificate: await issue(nodeSubject(search)), trust }),
  ];
}

async function run(
  cluster: LocalCluster,
  { namespace }: SearchCluster,
  { args, input }: { readonly args: readonly string[]; readonly input?: string },
): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(
    [`--namespace=${namespace}`, ...args],
    input === undefined ? {} : { input },
  );
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

async function requestOver(
  secure: ConnectionOptions,
  path: string,
  { method = "GET", body, login }: Query,
): Promise<Reply> {
  const payload = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "application/x-ndjson" : "application/json";
  const requested = request({
    // Without an agent, the connection is this one and no other.
    createConnection: () => connect(secure),
    path,
    method,
    timeout: 30_000,
    ...(login === undefined ? {} : { auth: login }),
    ...(payload === undefined ? {} : { headers: { "content-type": type } }),
  });
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  requested.once("error", reject);
  requested.once("timeout", () => requested.destroy(new Error("no answer in 30 s")));
  requested.once("response", (response) => {
    text(response).then((output) => resolve({ status: response.statusCode ?? 0, body: output }), reject);
  });
  requested.end(payload);
  return await promise;
}
