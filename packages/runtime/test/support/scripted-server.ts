import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

import { makeTestCertificate } from "./test-certificate.ts";

export type Reaction = (response: ServerResponse, request: IncomingMessage) => void;

/** One request as it came. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A server on the loopback that reacts as told, one reaction per request, the last one for all further. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Connections that were ever made. */
  readonly connections: number;
}

/** Starts a server that plays the reactions in order. */
export async function startScriptedServer(...script: readonly Reaction[]): Promise<ScriptedServer> {
  return await start({ scheme: "http", create: createServer }, script);
}

/** The same over TLS, which tokens need; no one vouches for its certificate. */
export async function startSecureServer(...script: readonly Reaction[]): Promise<ScriptedServer> {
  const { certPem: cert, keyPem: key } = makeTestCertificate("127.0.0.1");
  const create = (listener: RequestListener): Server => createSecureServer({ cert, key }, listener);
  return await start({ scheme: "https", create }, script);
}

interface Listening {
  readonly scheme: "http" | "https";
  readonly create: (listener: RequestListener) => Server;
}

async function start({ scheme, create }: Listening, script: readonly Reaction[]): Promise<ScriptedServer> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = create((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers, rawHeaders } = request;
      received.push({ method, path: url, headers, rawHeaders, body: Buffer.concat(chunks).toString() });
      const reaction = script[received.length - 1] ?? script.at(-1);
      reaction?.(response, request);
    });
  });
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    received,
    get connections() {
      return connections;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Answers with JSON. */
export function json(code: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reaction {
  return (response) => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** Answers with a Status of the API server. */
export function status(
  code: number,
  fields: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Reaction {
  return json(code, { kind: "Status", apiVersion: "v1", status: "Failure", code, ...fields }, headers);
}

/** Answers with a page as proxies have them. */
export function html(code: number): Reaction {
  return (response) => {
    response.writeHead(code, { "content-type": "text/html" });
    response.end("<html><body>the proxy is sorry</body></html>");
  };
}

/** Begins a response and cuts the connection in the middle of it. */
export const cutInBody: Reaction = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"kind":"ConfigMap",');
  setTimeout(() => response.destroy(), 20);
};

/** Cuts the connection without a response. */
export const cutBeforeResponse: Reaction = (response) => {
  response.destroy();
};

/** Says nothing at all. */
export const stayingSilent: Reaction = () => undefined;

/** An address on the loopback where no one listens. */
export async function deadAddress(): Promise<string> {
  const { url, [Symbol.asyncDispose]: close } = await startScriptedServer();
  await close();
  return url;
}
