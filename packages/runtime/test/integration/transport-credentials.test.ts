import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/create-client.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { defineKind } from "../../src/object/kind.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { createTransport, type Observation } from "../../src/transport/transport.ts";
import { type LocalCluster, startTestCluster } from "../support/cluster.ts";
import { connect, type Connected } from "../support/connect.ts";
import { hurriedSystem } from "../support/hurried-system.ts";
import { namespaces, secrets, serviceAccounts } from "../support/kinds.ts";
import { kubeconfig } from "../support/kubeconfig.ts";
import { makeTempDirectory } from "../support/temp-directory.ts";
import { makeCertificateRequest, type TestCertificate } from "../support/test-certificate.ts";
import { startTunnel } from "../support/tunnel.ts";

let cluster: LocalCluster;
let admin: Connected;

beforeAll(async () => {
  cluster = await startTestCluster();
  admin = connect(cluster.admin);
});

afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await cluster.stop();
});

const namespace = "default";

async function whoAmI(client: Client): Promise<string> {
  const response = await client.raw({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  });
  return (response as { status: { userInfo: { username: string } } }).status.userInfo.username;
}

/** A token of the account; it ends when the Secret of its name is deleted. */
async function makeToken(account: string, boundTo: string): Promise<string> {
  const { client } = admin;
  await client.apply(
    serviceAccounts,
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: account, namespace } },
    { fieldManager: "test", force: true },
  );
  await client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: { name: boundTo, namespace } });
  const boundObjectRef = { apiVersion: "v1", kind: "Secret", name: boundTo };
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { boundObjectRef } };
  const response = await client.createSubresource(
    serviceAccounts,
    { name: account, namespace },
    { subresource: "token", body },
  );
  return (response as { status: { token: string } }).status.token;
}

const requests = defineKind<KubeObject & { readonly status?: { readonly certificate?: string } }>({
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  scope: "Cluster",
});

/** A client certificate that the cluster itself signed. */
async function makeCertificate(user: string): Promise<TestCertificate> {
  const { client } = admin;
  const { requestPem, keyPem } = makeCertificateRequest(user);
  const object = {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: user },
    spec: {
      request: Buffer.from(requestPem).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["client auth"],
    },
  };
  await client.create(requests, object);
  const condition = { type: "Approved", status: "True", reason: "Test", message: "test" };
  const patch = { kind: "merge", body: { status: { conditions: [condition] } } } as const;
  await client.patch(requests, { name: user }, { patch, subresource: "approval" });
  for (let observation = 0; observation < 300; observation += 1) {
    const { status } = await client.get(requests, { name: user });
    if (status?.certificate !== undefined) {
      return { certPem: Buffer.from(status.certificate, "base64").toString(), keyPem };
    }
    await realSystem().sleep(100);
  }
  throw new Error(`no certificate for ${user} after 30 s`);
}

const there = (): object => ({
  server: cluster.admin.server,
  "certificate-authority-data": Buffer.from(cluster.admin.caPem).toString("base64"),
});

describe("[runtime/RT-11] continues without restart", () => {
  test("when the token in the file is replaced before the minute is over and the old one is refused", async () => {
    await using directory = await makeTempDirectory();
    const system = realSystem();
    await directory.write("token", "not-a-token-any-more");
    const file = await directory.write(
      "config",
      kubeconfig({ cluster: { ...there() }, user: { tokenFile: "token" } }),
    );
    const config = await loadConfig({ system, kubeconfigPath: file });
    const seen: Observation[] = [];
    await using transport = createTransport({ config, system, observe: (one) => seen.push(one) });
    await directory.write("token", await makeToken("rotating", "rotating-1"));
    const client = createClient({ transport });
    expect(await whoAmI(client)).toBe("system:serviceaccount:default:rotating");
    expect(seen.map(({ code }) => code)).toEqual(["401", "201"]);
    expect(await whoAmI(client)).toBe("system:serviceaccount:default:rotating");
    expect(seen).toHaveLength(3);
  });

  test("[faults/E7] when a token that was good ends", async () => {
    await using directory = await makeTempDirectory();
    const system = realSystem();
    await directory.write("token", await makeToken("ending", "ending-1"));
    const file = await directory.write(
      "config",
      kubeconfig({ cluster: { ...there() }, user: { tokenFile: "token" } }),
    );
    const config = await loadConfig({ system, kubeconfigPath: file });
    const seen: Observation[] = [];
    await using transport = createTransport({ config, system, observe: (one) => seen.push(one) });
    const client = createClient({ transport });
    expect(await whoAmI(client)).toBe("system:serviceaccount:default:ending");
    await directory.write("token", await makeToken("ending", "ending-2"));
    await admin.client.delete(secrets, { name: "ending-1", namespace });
    // The server remembers for some seconds whom it has just let in.
    for (
      let observation = 0;
      observation < 60 && !seen.some(({ code }) => code === "401");
      observation += 1
    ) {
      expect(await whoAmI(client)).toBe("system:serviceaccount:default:ending");
      await system.sleep(500);
    }
    expect(seen.some(({ code }) => code === "401")).toBe(true);
  });

  test("when the client certificate is replaced: new connections show the new one", async () => {
    await using directory = await makeTempDirectory();
    const [old, fresh] = [await makeCertificate("certified-old"), await makeCertificate("certified-fresh")];
    const user = {
      "client-certificate": await directory.write("tls.crt", old.certPem),
      "client-key": await directory.write("tls.key", old.keyPem),
    };
    const system = hurriedSystem(20);
    const kubeconfigPath = await directory.write("config", kubeconfig({ cluster: { ...there() }, user }));
    const config = await loadConfig({ system, kubeconfigPath });
    await using transport = createTransport({ config, system });
    const client = createClient({ transport });
    expect(await whoAmI(client)).toBe("certified-old");
    await directory.write("tls.crt", fresh.certPem);
    await directory.write("tls.key", fresh.keyPem);
    await realSystem().sleep(600);
    expect(await whoAmI(client)).toBe("certified-fresh");
  });

  test("when the API server was killed and came back", async () => {
    await admin.client.get(namespaces, { name: "default" });
    await cluster.apiServer.kill();
    await cluster.apiServer.restart();
    const { metadata } = await admin.client.get(namespaces, { name: "default" });
    expect(metadata.name).toBe("default");
  });
});

describe("a proxy on the way", () => {
  test("is used for a server with TLS", async () => {
    await using proxy = await startTunnel();
    const config = { cluster: { ...there(), "proxy-url": proxy.url }, user: { token: cluster.admin.token } };
    await using directory = await makeTempDirectory();
    const system = realSystem();
    const loaded = await loadConfig({
      system,
      kubeconfigPath: await directory.write("config", kubeconfig(config)),
    });
    await using transport = createTransport({ config: loaded, system });
    const client = createClient({ transport });
    expect(await whoAmI(client)).toBe("admin");
    expect(await whoAmI(client)).toBe("admin");
    expect(proxy.tunnels.length).toBeGreaterThan(0);
    expect(proxy.tunnels.every((target) => cluster.admin.server.endsWith(target))).toBe(true);
  });
});
