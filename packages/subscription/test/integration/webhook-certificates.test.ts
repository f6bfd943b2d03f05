import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";

import { issueCa, issueCertificate } from "@quartermaster/runtime/certificates";
import { eventually } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type InjectionBench, startInjection } from "../support/replica.ts";

/** A CA of the platform and a certificate that it signed for our address. */
interface Signed {
  readonly caPem: string;
  readonly certificatePem: string;
  readonly keyPem: string;
}

async function sign(serial: string): Promise<Signed> {
  const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  const ca = await issueCa({ subject: { commonName: `platform ${serial}` }, serial, validity });
  const pair = await issueCertificate(ca, {
    subject: { commonName: "webhook" },
    usages: ["server"],
    serial: `${serial}ff`,
    validity,
    dnsNames: [],
    ipAddresses: ["127.0.0.1"],
  });
  return { caPem: ca.certificatePem, ...pair };
}

const sourceName = "quartermaster-webhook-service-ca";

/** What the platform does: one key, and nothing else stays. */
async function fill(cluster: InjectionBench["cluster"], namespace: string, { caPem }: Signed): Promise<void> {
  await cluster.api.apply(`/api/v1/namespaces/${namespace}/configmaps/${sourceName}`, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: sourceName, annotations: { "service.beta.openshift.io/inject-cabundle": "true" } },
    data: { "service-ca.crt": caPem },
  });
}

/** As kubelet does: each file changes immediately, the pair does not. */
async function save(directory: string, { certificatePem, keyPem }: Signed): Promise<void> {
  for (const [name, content] of [
    ["tls.crt", certificatePem],
    ["tls.key", keyPem],
  ] as const) {
    await writeFile(join(directory, `${name}.new`), content);
    await rename(join(directory, `${name}.new`), join(directory, name));
  }
}

let bench: InjectionBench;
let directory = "";
let [first, second] = [] as Signed[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "service-ca-"));
  [first, second] = [await sign("01"), await sign("02")];
  await save(directory, first);
  bench = await startInjection({}, async (namespace, cluster) => {
    await fill(cluster, namespace, signedFirst());
    return {
      files: { certificatePath: join(directory, "tls.crt"), keyPath: join(directory, "tls.key") },
      caSource: { kind: "configMap", ref: { namespace, name: sourceName }, key: "service-ca.crt" },
    };
  });
  await bench.secret("local-entitlement", "a.pem");
  await bench.bundle("local", { entitlements: [{ name: "local-entitlement" }] });
  const label = { "subscription.openshift.io/always-inject": "true" };
  await bench.bundle("auto", { entitlements: [{ name: "local-entitlement" }] }, label);
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function signedFirst(): Signed {
  if (first === undefined) throw new TypeError("not signed yet");
  return first;
}

function signedSecond(): Signed {
  if (second === undefined) throw new TypeError("not signed yet");
  return second;
}

interface Configuration {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: { readonly caBundle: string };
  }[];
}

/** Trusted CAs of every entry of both configurations, PEM. */
async function trusted(): Promise<readonly string[]> {
  const all = ["", "-auto"].map(async (suffix) => {
    const name = `quartermaster-subscription-${bench.namespace}${suffix}`;
    const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}`;
    const { webhooks = [] } = (await bench.send("GET", path)).object as Configuration;
    return webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle, "base64").toString());
  });
  return (await Promise.all(all)).flat();
}

const entryCount = 4;

async function everyEntry(holds: (pem: string) => boolean, withinMs: number): Promise<void> {
  await eventually(
    async (see) => {
      const bundles = see(await trusted());
      return bundles.length === entryCount && bundles.every(holds);
    },
    { withinMs },
  );
}

async function podStatus(): Promise<number> {
  const { status } = await bench.pod("rotated", { annotations: { "inject-bundle": "local" }, dryRun: true });
  return status;
}

/** The fingerprint of the certificate that the webhook serves with. */
async function servedBy(port: number): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

describe("a certificate of the platform", () => {
  test("[subscription-injection/AC-F23] every webhook entry trusts what the platform put into its ConfigMap", async () => {
    await everyEntry((pem) => pem === signedFirst().caPem, 30_000);
    expect(await podStatus()).toBe(201);
  });

  test("[subscription-injection/AC-F15,AC-F23] [security/53] a new CA reaches every entry within 5 s, the old one stays, and no pod is refused", async () => {
    const responses: number[] = [];
    const over = new AbortController();
    const requesting = (async () => {
      while (!over.signal.aborted) responses.push(await podStatus());
    })();
    await fill(bench.cluster, bench.operatorNamespace, signedSecond());
    await everyEntry((pem) => pem.includes(signedSecond().caPem), 5_000);
    // Replicas still serve with the certificate of the old CA.
    for (const pem of await trusted()) expect(pem).toContain(signedFirst().caPem);
    await save(directory, signedSecond());
    const { fingerprint256 } = new X509Certificate(signedSecond().certificatePem);
    await eventually(async (see) => see(await servedBy(bench.port)) === fingerprint256, { withinMs: 30_000 });
    over.abort();
    await requesting;
    expect(responses.length).toBeGreaterThan(3);
    expect(responses.filter((status) => status !== 201)).toEqual([]);
  });

  test("a published ConfigMap that is deleted comes back without old CAs", async () => {
    const path = `/api/v1/namespaces/${bench.operatorNamespace}/configmaps/quartermaster-webhook-ca`;
    expect((await bench.send("DELETE", path)).status).toBe(200);
    await everyEntry((pem) => pem === signedSecond().caPem, 30_000);
    expect(await podStatus()).toBe(201);
  });
});
