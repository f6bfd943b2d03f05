import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect, createServer as createTcpServer, type Server as TcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { proxyDial } from "../../../src/engine/proxy-dial.ts";

const directory = mkdtempSync(join(tmpdir(), "proxy-"));
const socketPath = join(directory, "p.sock");
const requested: (string | undefined)[] = [];
let engine: TcpServer;
let enginePort = 0;
let proxy: Server;

async function listening(server: TcpServer, location: string | number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(location, () => resolve());
  await promise;
}

beforeAll(async () => {
  engine = createTcpServer((socket) => socket.end("the engine speaks first"));
  await listening(engine, 0);
  const address = engine.address();
  enginePort = typeof address === "object" && address !== null ? address.port : 0;
  proxy = createServer((_, response) => response.writeHead(405).end()).on(
    "connect",
    (request, near: Socket) => {
      requested.push(request.url);
      if (request.url?.startsWith("10.") !== true) {
        near.end("HTTP/1.1 403 Forbidden\r\n\r\n");
        return;
      }
      const far = connect(enginePort, "127.0.0.1", () => {
        near.write("HTTP/1.1 200 OK\r\n\r\n");
        far.pipe(near);
        near.pipe(far);
      });
    },
  );
  await listening(proxy, socketPath);
});

afterAll(() => {
  proxy.close();
  engine.close();
  rmSync(directory, { recursive: true });
});

const never = new AbortController().signal;

describe("proxyDial", () => {
  test("asks the proxy for the pod's address, and passes on what the engine says first", async () => {
    const socket = await proxyDial({ socketPath })({ node: "a", host: "10.0.0.7", port: 9200 }, never);
    expect(await text(socket)).toBe("the engine speaks first");
    expect(requested).toEqual(["10.0.0.7:9200"]);
  });

  test("an address of IPv6 is written in brackets", async () => {
    const dialled = proxyDial({ socketPath })({ node: "a", host: "fd00::7", port: 9200 }, never);
    await expect(dialled).rejects.toThrow("the proxy responds 403 for [fd00::7]:9200");
    expect(requested.at(-1)).toBe("[fd00::7]:9200");
  });

  test("a proxy that is not there is an engine that is not reached", async () => {
    const dial = proxyDial({ socketPath: join(directory, "none.sock") });
    await expect(dial({ node: "a", host: "10.0.0.7", port: 9200 }, never)).rejects.toMatchObject({
      code: "ENOENT",
    });
  });

  test("gives up when asked to", async () => {
    const dial = proxyDial({ socketPath });
    const dialled = dial({ node: "a", host: "10.0.0.7", port: 9200 }, AbortSignal.abort());
    await expect(dialled).rejects.toThrow(/abort/i);
  });
});
