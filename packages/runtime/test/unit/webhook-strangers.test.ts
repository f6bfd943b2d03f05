import { once } from "node:events";
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { request } from "node:https";
import { connect as connectPlain, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { connect, TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { realSystem } from "../../src/system/real-system.ts";
import { WebhookServer } from "../../src/webhook/webhook-server.ts";
import { makeServing } from "../support/serving.ts";

const mebibyte = 2 ** 20;
const path = "/subscription/pods";
let server: WebhookServer;
let [port, ca] = [0, ""];

beforeAll(async () => {
  const { ca: issuer, certificates } = await makeServing();
  ca = issuer.certificatePem;
  // The limits are the defaults; the route has that of the pod webhook.
  server = new WebhookServer({
    system: realSystem(),
    certificates,
    port: 0,
    host: "127.0.0.1",
    routes: [{ kind: "admission", path, bodyLimitBytes: 6 * mebibyte, decide: () => ({ kind: "allow" }) }],
  });
  port = await server.listen();
});
afterAll(async () => {
  await server.stop();
});

function open(headers: OutgoingHttpHeaders = {}): ClientRequest {
  const all = { "content-type": "application/json", ...headers };
  const sent = request({ host: "127.0.0.1", port, ca, path, method: "POST", agent: false, headers: all });
  // A refused body may end the connection while it is still being sent.
  sent.on("error", () => undefined);
  return sent;
}

interface Reply {
  readonly status: number | undefined;
  readonly body: string;
}

async function replyTo(sent: ClientRequest): Promise<Reply> {
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

async function post(body: string | Buffer, headers: OutgoingHttpHeaders = {}): Promise<Reply> {
  const sent = open(headers);
  sent.end(body);
  return await replyTo(sent);
}

const review = {
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "u",
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: "CREATE",
    object: {},
  },
};

async function expectAlive(): Promise<void> {
  expect((await post(JSON.stringify(review))).status).toBe(200);
}

describe("reviews that are too large", () => {
  test("[security/45] 10 MB, in one piece or in chunks, and a compressed bomb are refused", async () => {
    const large = Buffer.alloc(10 * mebibyte, 0x20);
    expect((await post(large, { "content-length": large.length })).status).toBe(413);
    expect((await post(large, { "transfer-encoding": "chunked" })).status).toBe(413);
    const bomb = gzipSync(Buffer.alloc(64 * mebibyte));
    expect((await post(bomb, { "content-encoding": "gzip" })).status).toBe(415);
    await expectAlive();
  });

  test("[security/45] a body without an end is refused at the limit, and is not kept in memory", async () => {
    const before = process.memoryUsage().arrayBuffers;
    const sent = open({ "transfer-encoding": "chunked" });
    const chunk = Buffer.alloc(mebibyte, 0x20);
    const over = new AbortController();
    const responded = replyTo(sent).finally(() => {
      over.abort();
    });
    let [most, written] = [0, 0];
    // 1 GB, if it were taken. Never more than one chunk waits on our side.
    while (written < 1_024 && !over.signal.aborted) {
      const isTaken = await Promise.race([
        new Promise<boolean>((resolve) =>
          sent.write(chunk, () => {
            resolve(true);
          }),
        ),
        responded.then(() => false),
      ]);
      if (isTaken) written += 1;
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect((await responded).status).toBe(413);
    sent.destroy();
    expect(written).toBeLessThan(64);
    expect(most).toBeLessThan(20 * mebibyte);
    await expectAlive();
  });
});

test.each([
  { name: "empty", body: "" },
  { name: "not JSON", body: "{" },
  { name: "a list", body: "[]" },
  { name: "a number", body: "1" },
  { name: "without a request", body: JSON.stringify({ ...review, request: undefined }) },
  { name: "of another version", body: JSON.stringify({ ...review, apiVersion: "admission.k8s.io/v2" }) },
  { name: "100,000 levels deep", body: `${"[".repeat(100_000)}${"]".repeat(100_000)}` },
  { name: "deep below a request", body: `{"request":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}` },
])(
  "[security/46] a review that is $name gets 400 without a stack, and the server lives",
  async ({ body }) => {
    const reply = await post(body);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatch(/^the review is [\w ]+\n$/);
    await expectAlive();
  },
);

const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;

/** A connection that has said something, or nothing; how long it lived, and what was answered. */
async function lifeOf(socket: Socket, bytes = ""): Promise<{ livedMs: number; output: string }> {
  const startMs = performance.now();
  let output = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    output += chunk;
  });
  socket.on("error", () => undefined);
  const isOpen = socket instanceof TLSSocket && socket.authorized;
  if (isOpen) socket.write(bytes);
  else if (bytes !== "") socket.once("secureConnect", () => socket.write(bytes));
  await new Promise<void>((resolve) => {
    socket.once("close", () => {
      resolve();
    });
  });
  return { livedMs: performance.now() - startMs, output };
}

function dial(options: object = {}): TLSSocket {
  return connect({ host: "127.0.0.1", port, ca, ...options });
}

/** Connections that are ready to speak. */
async function handshaken(length: number): Promise<readonly TLSSocket[]> {
  const sockets = Array.from({ length }, () => dial());
  await Promise.all(
    sockets.map(async (socket) => {
      await once(socket, "secureConnect");
    }),
  );
  return sockets;
}

/** One byte a second, for as long as the connection lives. */
function drip(socket: TLSSocket, byte: string): void {
  const timer = setInterval(() => {
    if (socket.writable) socket.write(byte);
  }, 1_000);
  socket.once("close", () => {
    clearInterval(timer);
  });
}

test(
  "[security/47] 1,000 slow connections: at most 500 are taken, headers end after 5 s and requests after 10 s",
  { timeout: 60_000 },
  async () => {
    const inBody = await handshaken(10);
    const inHeaders = await handshaken(20);
    // Without a handshake on our side: so many would take longer than the first of them live.
    const crowd = Array.from({ length: 970 }, () => connectPlain({ host: "127.0.0.1", port }));
    const silent = Promise.all(crowd.map(async (socket) => await lifeOf(socket)));
    for (const socket of inBody) drip(socket, " ");
    for (const socket of inHeaders) drip(socket, "x");
    const body = `${head}content-length: 100\r\n\r\n{`;
    const bodies = Promise.all(inBody.map(async (socket) => await lifeOf(socket, body)));
    const heads = await Promise.all(inHeaders.map(async (socket) => await lifeOf(socket, head)));
    // Those that were taken are told why they end.
    expect(heads.filter(({ output }) => !output.startsWith("HTTP/1.1 408 "))).toEqual([]);
    expect((await bodies).filter(({ output }) => !/^HTTP\/1\.1 (?:408|504) /.test(output))).toEqual([]);
    const turnedAway = (await silent).filter(({ livedMs }) => livedMs < 4_000);
    expect(turnedAway.length).toBeGreaterThanOrEqual(490);
    expect(turnedAway.length).toBeLessThan(970);
    // Far below what they would live without a limit, however busy the machine is.
    for (const { livedMs } of [...heads, ...(await bodies), ...(await silent)])
      expect(livedMs).toBeLessThan(30_000);
    await expectAlive();
  },
);

describe("odd requests", () => {
  test("[security/48] two lengths of one body, and headers of more than 16 KiB, are refused", async () => {
    const both = `${head}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nhost: x\r\n\r\n`;
    const smuggled = await lifeOf(dial(), both);
    expect(smuggled.output).toMatch(/^HTTP\/1\.1 400 /);
    expect(smuggled.output.match(/HTTP\/1\.1/g)).toHaveLength(1);
    const twice = await lifeOf(dial(), `${head}content-length: 3\r\ncontent-length: 4\r\n\r\n{}`);
    expect(twice.output).toMatch(/^HTTP\/1\.1 400 /);
    const huge = await lifeOf(dial(), `${head}x: ${"y".repeat(17_000)}\r\n\r\n`);
    expect(huge.output).toMatch(/^HTTP\/1\.1 431 /);
    await expectAlive();
  });

  test("[security/48] HTTP/2 is not spoken, so that streams cannot be reset in masses", async () => {
    const { livedMs } = await lifeOf(dial({ ALPNProtocols: ["h2"] }), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    expect(livedMs).toBeLessThan(5_000);
    const socket = dial({ ALPNProtocols: ["h2", "http/1.1"] });
    await once(socket, "secureConnect");
    expect(socket.alpnProtocol).toBe("http/1.1");
    socket.destroy();
  });
});
