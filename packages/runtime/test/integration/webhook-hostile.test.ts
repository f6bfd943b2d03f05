import type { OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { connect as tlsConnect } from "node:tls";

import { hatchCanary } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { Log } from "../../src/reconcile/log.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { WebhookServer, type WebhookServerOptions } from "../../src/webhook/webhook-server.ts";
import { makeServing } from "../support/serving.ts";

interface Running extends AsyncDisposable {
  readonly port: number;
  readonly server: WebhookServer;
  /** Posts to a path; `body` is sent as it is. */
  post(body: string | Buffer, options?: RequestOptions): Promise<{ status: number; body: string }>;
  readonly caPem: string;
}

async function start(options: Partial<WebhookServerOptions> = {}): Promise<Running> {
  const { ca, certificates } = await makeServing();
  const server = new WebhookServer({
    system: realSystem(),
    certificates,
    port: 0,
    host: "127.0.0.1",
    routes: [{ kind: "admission", path: "/admit", decide: () => ({ kind: "allow" }) }],
    ...options,
  });
  const port = await server.listen();
  const caPem = ca.certificatePem;
  return {
    port,
    server,
    caPem,
    post: async (body, given = {}) => await post({ port, ca: caPem, path: "/admit", ...given }, body),
    [Symbol.asyncDispose]: async () => {
      await server.stop();
    },
  };
}

async function post(
  options: RequestOptions,
  body: string | Buffer,
): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const headers = { "content-type": "application/json", ...(options.headers as OutgoingHttpHeaders) };
  const sent = httpsRequest(
    { host: "127.0.0.1", method: "POST", agent: false, ...options, headers },
    (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, body: text });
      });
      response.on("error", reject);
    },
  );
  sent.on("error", reject);
  sent.end(body);
  return await promise;
}

const request = {
  uid: "u-1",
  kind: { group: "", version: "v1", kind: "ConfigMap" },
  resource: { group: "", version: "v1", resource: "configmaps" },
  operation: "CREATE",
  object: {},
};
const review = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });

/** Sends the bytes and waits for the end of the connection; milliseconds until then. */
async function linger(running: Running, bytes: string): Promise<number> {
  const startMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<number>();
  const socket = tlsConnect({ port: running.port, host: "127.0.0.1", ca: running.caPem }, () => {
    socket.write(bytes);
  });
  socket.on("data", () => undefined);
  socket.on("error", () => undefined);
  socket.on("close", () => {
    resolve(performance.now() - startMs);
  });
  return await promise;
}

describe("a webhook server among strangers", () => {
  test("[runtime/RT-23] refuses what is too large, of the wrong type, broken, too deep or without uid, and stays up", async () => {
    await using running = await start();
    const large = Buffer.alloc(8 * 2 ** 20, 0x20);
    const withoutUid = review.replace('"u-1"', '""');
    const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
    const gzip = { headers: { "content-encoding": "gzip" } };
    const chunked = { headers: { "transfer-encoding": "chunked" } };
    const results = [
      await running.post(large),
      await running.post(large, chunked),
      await running.post(review, { headers: { "content-type": "text/plain" } }),
      await running.post(review, gzip),
      await running.post("{", {}),
      await running.post(deep),
      await running.post(withoutUid),
      await running.post(review, { method: "PUT" }),
      await running.post(review, { path: "/elsewhere" }),
      await running.post(review),
    ];
    expect(results.map(({ status }) => status)).toEqual([413, 413, 415, 415, 400, 400, 400, 405, 404, 200]);
    expect(running.server.isListening).toBe(true);
  });

  test("[runtime/RT-23] does not read a body of 64 MB to its end", async () => {
    await using running = await start();
    const before = process.memoryUsage().arrayBuffers;
    const outcome = await running.post(Buffer.alloc(64 * 2 ** 20, 0x20)).then(
      ({ status }) => status,
      (error: unknown) => (error as NodeJS.ErrnoException).code,
    );
    expect([413, "ECONNRESET", "EPIPE"]).toContain(outcome);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 2 ** 20);
    expect((await running.post(review)).status).toBe(200);
  });

  test("[runtime/RT-23] ends the connection of a slow client", async () => {
    await using running = await start({ requestTimeoutMs: 600 });
    const head =
      "POST /admit HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n";
    const [inHeaders, inBody] = await Promise.all([linger(running, head), linger(running, `${head}\r\n{`)]);
    expect(inHeaders).toBeLessThan(3_000);
    expect(inBody).toBeLessThan(3_000);
    expect((await running.post(review)).status).toBe(200);
  });

  test("[runtime/RT-23] refuses smuggled requests", async () => {
    await using running = await start();
    const both =
      "POST /admit HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    expect(await linger(running, both)).toBeLessThan(3_000);
    expect((await running.post(review)).status).toBe(200);
  });

  test("[runtime/RT-24] answers 500 when the route throws, without a word of the fault", async () => {
    const canary = hatchCanary();
    const failures: string[] = [];
    const log: Log = {
      isDebug: false,
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (message) => failures.push(message),
      with: () => log,
    };
    await using running = await start({
      log,
      routes: [
        {
          kind: "admission",
          path: "/admit",
          decide: () => {
            throw new Error(canary.value);
          },
        },
      ],
    });
    const { status, body } = await running.post(review);
    expect(status).toBe(500);
    expect(body).toBe("the webhook failed\n");
    expect(canary.leaksIn(body)).toEqual([]);
    expect(failures).toEqual(["a webhook failed"]);
  });

  test("[runtime/RT-23] answers within the caller's time when the route does not", async () => {
    let isAborted = false;
    await using running = await start({
      routes: [
        {
          kind: "admission",
          path: "/admit",
          decide: async (_request, { signal }) => {
            signal.addEventListener("abort", () => (isAborted = true));
            return await new Promise(() => undefined);
          },
        },
      ],
    });
    const startMs = performance.now();
    const { status } = await running.post(review, { path: "/admit?timeout=1s" });
    expect(status).toBe(504);
    // It answers after 0.9 s; without the caller's word after 9.5 s. Half of that for a busy machine.
    expect(performance.now() - startMs).toBeLessThan(5_000);
    expect(isAborted).toBe(true);
  });

  test("hears only callers with a certificate of the CAs it was given", async () => {
    const callers = await makeServing();
    await using running = await start({ callerCaPem: callers.ca.certificatePem });
    const { certificatePem, keyPem } = callers.ca;
    await expect(running.post(review)).rejects.toThrow(/certificate|ECONNRESET|EPIPE|hang up/i);
    const stranger = (await makeServing()).ca;
    await expect(
      running.post(review, { cert: stranger.certificatePem, key: stranger.keyPem }),
    ).rejects.toThrow(/certificate|alert|ECONNRESET|EPIPE|hang up/i);
    expect((await running.post(review, { cert: certificatePem, key: keyPem })).status).toBe(200);
  });

  test("finishes answers in progress when it stops, and takes no new ones", async () => {
    const { promise: requested, resolve: noteRequest } = Promise.withResolvers<undefined>();
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    await using running = await start({
      routes: [
        {
          kind: "admission",
          path: "/admit",
          decide: async () => {
            noteRequest(undefined);
            await released;
            return { kind: "allow" };
          },
        },
      ],
    });
    const pending = running.post(review);
    await requested;
    const stopped = running.server.stop();
    await expect(running.post(review)).rejects.toThrow(/ECONNREFUSED/);
    release(undefined);
    expect((await pending).status).toBe(200);
    await stopped;
  });

  test("cuts off what does not end when it stops", async () => {
    const { promise: requested, resolve: noteRequest } = Promise.withResolvers<undefined>();
    const decide = async (): Promise<never> => {
      noteRequest(undefined);
      return await new Promise(() => undefined);
    };
    await using running = await start({
      drainMs: 300,
      routes: [{ kind: "admission", path: "/admit", decide }],
    });
    const pending = running.post(review).catch(() => "cut");
    await requested;
    const startMs = performance.now();
    await running.server.stop();
    expect(performance.now() - startMs).toBeLessThan(2_000);
    expect(await pending).toBe("cut");
  });
});
