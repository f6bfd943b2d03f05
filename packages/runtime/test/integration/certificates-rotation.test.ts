import { randomBytes, X509Certificate } from "node:crypto";

import { eventually, joinSharedCluster, makeNamespace, type SharedCluster } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { IssuedCertificates } from "../../src/certificates/issued-certificates.ts";
import { readCaSet } from "../../src/certificates/keep-ca-set.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { WebhookServer } from "../../src/webhook/webhook-server.ts";
import { connect } from "../support/connect.ts";
import { secrets } from "../support/kinds.ts";
import { registrationOf } from "../support/serving.ts";

const system = realSystem();

async function makeOne(cluster: SharedCluster, namespace: string, name: string): Promise<string> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } };
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  const { status, body: text } = await cluster.api.send({ method: "POST", path, body });
  return status === 201 ? "" : `${status} ${text}`;
}

describe("certificates of our own", () => {
  test("[runtime/RT-25] [security/53] [subscription-injection/AC-G7] [faults/28] rotate leaves and CA under 1,000 requests of the real API server without one rejected", async () => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "rotation");
    await using connected = connect(cluster.admin);
    const name = `r${randomBytes(4).toString("hex")}`;
    const stopping = new AbortController();
    const certificates = new IssuedCertificates({
      client: connected.client,
      system,
      secret: { namespace: namespace.name, name: "ca" },
      ipAddresses: ["127.0.0.1"],
      targets: [{ kind: "validating", name }],
      times: { caMs: 24_000, servingMs: 6_000, propagationMs: 3_000, retirementMs: 3_000 },
    });
    const running = certificates.run(stopping.signal);
    await certificates.ready();
    const certs = new Set<string>();
    const issuers = new Set<string>();
    const note = (): void => {
      const certificate = new X509Certificate(certificates.current()?.certificatePem ?? "");
      certs.add(certificate.fingerprint256);
      issuers.add(certificate.issuer);
    };
    note();
    using stack = new DisposableStack();
    stack.use(certificates.onChange(note));
    let requested = 0;
    await using server = new WebhookServer({
      system,
      certificates,
      port: 0,
      host: "127.0.0.1",
      // Every few requests a new handshake: an open connection would not look at the certificate again.
      requestsPerConnection: 5,
      routes: [
        {
          kind: "admission",
          path: "/admit",
          decide: () => {
            requested += 1;
            return { kind: "allow" };
          },
        },
      ],
    });
    const port = await server.listen();
    const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${name}`;
    const registration = registrationOf({
      name,
      kind: "Validating",
      port,
      path: "/admit",
      namespace: namespace.name,
    });
    await cluster.api.apply(path, registration);
    certificates.refresh();
    await eventually(
      async (see) => see(await makeOne(cluster, namespace.name, "first")) === "" && requested > 0,
    );
    const rejected: string[] = [];
    const bundles = new Set<number>();
    const requestedBefore = requested;
    for (let round = 0; round < 125; round += 1) {
      const nextMs = performance.now() + 300;
      const names = Array.from({ length: 8 }, (_, index) => `c${round}-${index}`);
      const outcomes = await Promise.all(
        names.map(async (each) => await makeOne(cluster, namespace.name, each)),
      );
      rejected.push(...outcomes.filter((outcome) => outcome !== ""));
      const configuration = (await cluster.api.send({ path })).body;
      const bundle = /"caBundle":"(?<bundle>[^"]*)"/.exec(configuration)?.groups?.["bundle"] ?? "";
      bundles.add(Buffer.from(bundle, "base64").toString().split("BEGIN CERTIFICATE").length - 1);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, nextMs - performance.now())));
    }
    stopping.abort();
    await running;
    await cluster.api.send({ method: "DELETE", path });
    expect(rejected).toEqual([]);
    expect(requested - requestedBefore).toBe(1_000);
    expect(certs.size).toBeGreaterThanOrEqual(6);
    expect(issuers.size).toBeGreaterThanOrEqual(2);
    expect(bundles, "one authority, then old and new, then one").toEqual(new Set([1, 2]));
  });

  test("[runtime/RT-25] two replicas that start together end with one CA", async () => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "rotation");
    await using connected = connect(cluster.admin);
    const stopping = new AbortController();
    const secret = { namespace: namespace.name, name: "ca" };
    const replicas = Array.from(
      { length: 4 },
      () => new IssuedCertificates({ client: connected.client, system, secret, dnsNames: ["w.svc"] }),
    );
    const running = replicas.map(async (replica) => {
      await replica.run(stopping.signal);
    });
    await Promise.all(
      replicas.map(async (replica) => {
        await replica.ready();
      }),
    );
    stopping.abort();
    await Promise.all(running);
    const kept = readCaSet(await connected.client.get(secrets, secret));
    const ca = new X509Certificate(kept?.newest.certificatePem ?? "");
    const certs = replicas.map((replica) => new X509Certificate(replica.current()?.certificatePem ?? ""));
    expect(
      certs.every((certificate) => certificate.checkIssued(ca) && certificate.verify(ca.publicKey)),
    ).toBe(true);
    expect(new Set(certs.map(({ serialNumber }) => serialNumber)).size).toBe(4);
    expect(kept?.previous).toBeUndefined();
  });

  test("a Secret that is not ours is never overwritten", async () => {
    using cluster = joinSharedCluster();
    await using namespace = await makeNamespace(cluster.api, "rotation");
    await using connected = connect(cluster.admin);
    const secret = { namespace: namespace.name, name: "ca" };
    const foreign = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: secret,
      stringData: { password: "theirs" },
    };
    const { metadata } = await connected.client.create(secrets, foreign);
    const stopping = new AbortController();
    const certificates = new IssuedCertificates({ client: connected.client, system, secret });
    const running = certificates.run(stopping.signal);
    await expect(certificates.ready({ timeoutMs: 500 })).rejects.toThrow(/no certificate/);
    stopping.abort();
    await running;
    const after = await connected.client.get(secrets, secret);
    expect(after.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });
});
