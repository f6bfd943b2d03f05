import { once } from "node:events";
import { connect, createServer, type TLSSocket } from "node:tls";

import { issueCa, issueCertificate } from "@quartermaster/runtime/certificates";
import { describe, expect, test } from "vitest";

type CertifiedKey = Awaited<ReturnType<typeof issueCa>>;

const validity = { notBeforeMs: Date.UTC(2020, 0, 1), notAfterMs: Date.UTC(2045, 0, 1) };
/** A CA keeps its subject when its key is replaced: engines refuse to reload a leaf of another issuer. */
const subject = { commonName: "logs", organizationalUnits: ["authority"] };
const cas = Promise.all([
  issueCa({ subject, serial: "01", validity }),
  issueCa({ subject, serial: "02", validity }),
]);

async function nodeOf(issuer: CertifiedKey): Promise<CertifiedKey> {
  return await issueCertificate(issuer, {
    subject: { commonName: "node" },
    usages: ["server", "client"],
    dnsNames: ["logs"],
    serial: "03",
    validity,
  });
}

/** Whether a client that trusts `ca` accepts the server, and the server, which trusts the same, the client. */
async function trusts(ca: string, certificate: CertifiedKey): Promise<boolean> {
  const pair = { cert: certificate.certificatePem, key: certificate.keyPem, ca };
  const server = createServer({ ...pair, requestCert: true, rejectUnauthorized: true }, (socket) =>
    socket.end("hello"),
  );
  server.on("tlsClientError", () => undefined);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as { readonly port: number };
  const client: TLSSocket = connect({ ...pair, host: "127.0.0.1", port, servername: "logs" });
  try {
    const heard: Buffer[] = [];
    for await (const chunk of client) heard.push(chunk as Buffer);
    return Buffer.concat(heard).toString() === "hello";
  } catch {
    return false;
  } finally {
    client.destroy();
    server.close();
  }
}

describe("two CAs of one subject, as while the CA is replaced", () => {
  test.for([
    { name: "old before new, leaf of the old", order: [0, 1], signer: 0 },
    { name: "old before new, leaf of the new", order: [0, 1], signer: 1 },
    { name: "new before old, leaf of the old", order: [1, 0], signer: 0 },
    { name: "new before old, leaf of the new", order: [1, 0], signer: 1 },
  ])("Node's OpenSSL finds the signer by its key: $name", async ({ order, signer }) => {
    const both = await cas;
    const bundle = order.map((index) => both[index]?.certificatePem ?? "").join("");
    const issuer = both[signer];
    expect(issuer).toBeDefined();
    expect(await trusts(bundle, await nodeOf(issuer ?? both[0]))).toBe(true);
  });

  test("with the old one dropped, its leaves are trusted no more", async () => {
    const [old, next] = await cas;
    expect(await trusts(next.certificatePem, await nodeOf(next))).toBe(true);
    expect(await trusts(next.certificatePem, await nodeOf(old))).toBe(false);
  });
});
