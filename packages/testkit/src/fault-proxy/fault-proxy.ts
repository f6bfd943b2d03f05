import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { buffer } from "node:stream/consumers";

import { type ApiAccess, createCa } from "@quartermaster/local-cluster";

import { carryOut } from "./carry-out.ts";
import { FaultPlan, type InjectedFault } from "./fault-plan.ts";
import type { Fault } from "./fault.ts";
import { Forwarder } from "./forwarder.ts";
import { type Preconditions, preconditionsOf } from "./preconditions.ts";
import { type PublishedReady, publishedReady } from "./published-ready.ts";
import { createdName, describeRequest, type RequestMatch, type SeenRequest } from "./seen-request.ts";

/** One request, and what became of it. */
export interface TraceEntry extends SeenRequest {
  /** Undefined while in progress, and for ever when no response was given. */
  status?: number;
  /** The fault that was done to it. */
  readonly fault: Fault["kind"] | undefined;
  readonly bodySha256: string;
  /** Media type of the body, e.g. `application/merge-patch+json`; undefined without a body. */
  readonly contentType: string | undefined;
  /** Identity and version that the write demands. */
  readonly preconditions: Preconditions;
  /** Status of the Ready condition that the write publishes; undefined where it publishes none. */
  readonly publishes?: PublishedReady | undefined;
}

/** Where the proxy passes requests on to. */
export interface FaultProxyOptions {
  readonly upstream: ApiAccess;
  /** The server that answers when a fault says `answer-stale`. */
  readonly staleServer?: string;
}

/**
 * An HTTPS proxy in front of the API server that does harm on command. Identity passes through it as a bearer token; use
 * `access` with the token of the identity under test.
 */
export interface FaultProxy extends AsyncDisposable {
  readonly access: { readonly server: string; readonly caPem: string };
  /** Every request so far, in order of arrival. */
  readonly trace: readonly TraceEntry[];
  /** Does the fault to the requests that match, `times` times (default: once). Later ones stand behind earlier ones. */
  inject(match: RequestMatch, fault: Fault, times?: number): InjectedFault;
  /** Takes all faults back; what is held stays held. */
  heal(): void;
  /** Ends every connection, in the middle of whatever they are doing. */
  cutConnections(): void;
}

/** Starts a proxy on a free port of loopback. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const ca = await createCa("fault proxy");
  const { certificatePem, keyPem } = await ca.issue({
    commonName: "fault proxy",
    dnsNames: ["localhost"],
    ipAddresses: ["127.0.0.1"],
    usage: "server",
  });
  const proxy = new Proxy(
    options,
    createServer({ cert: certificatePem, key: keyPem, requestTimeout: 0, headersTimeout: 0 }),
    ca.certificatePem,
  );
  await proxy.listen();
  return proxy;
}

class Proxy implements FaultProxy {
  readonly trace: TraceEntry[] = [];
  readonly #plan = new FaultPlan();
  readonly #forwarder: Forwarder;
  readonly #server: Server;
  readonly #caPem: string;
  readonly #ended = new AbortController();
  #port = 0;
  #requests = 0;
  #isMuted = false;

  constructor({ upstream, staleServer }: FaultProxyOptions, server: Server, caPem: string) {
    this.#forwarder = new Forwarder(upstream, staleServer);
    this.#server = server;
    this.#caPem = caPem;
    server.on(
      "request",
      (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response),
    );
  }

  get access(): FaultProxy["access"] {
    return { server: `https://127.0.0.1:${this.#port}`, caPem: this.#caPem };
  }

  async listen(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", reject).listen(0, "127.0.0.1", resolve);
    await promise;
    const address = this.#server.address();
    this.#port = typeof address === "object" && address !== null ? address.port : 0;
  }

  inject(match: RequestMatch, fault: Fault, times = 1): InjectedFault {
    return this.#plan.add(match, fault, times);
  }

  heal(): void {
    this.#plan.clear();
  }

  cutConnections(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#server.closeAllConnections();
    this.#forwarder[Symbol.dispose]();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    await promise;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isMuted) {
      response.destroy();
      return;
    }
    try {
      // Counted on arrival: those whose bodies are still on the way have a number too.
      this.#requests += 1;
      const { method = "GET", url = "/", headers } = request;
      const described = describeRequest({ method, url, headers }, this.#requests);
      const body = await buffer(request);
      const seen = { ...described, name: described.name ?? createdName(method, body) };
      const fault = this.#plan.next(seen);
      const entry: TraceEntry = {
        ...seen,
        fault: fault?.kind,
        bodySha256: createHash("sha256").update(body).digest("hex"),
        contentType: headers["content-type"],
        preconditions: preconditionsOf(method, body.toString("utf8")),
        publishes: seen.subresource === "status" ? publishedReady(body.toString("utf8")) : undefined,
      };
      this.trace.push(entry);
      response.once("finish", () => (entry.status = response.statusCode));
      const message = { method: seen.method, path: seen.path, headers: request.headers, body };
      await carryOut(fault, {
        message,
        seen,
        isWatch: seen.verb === "watch",
        response,
        forwarder: this.#forwarder,
        signal: this.#ended.signal,
        mute: (isMuted) => {
          this.#isMuted = isMuted;
        },
      });
    } catch {
      // Either side went away in the middle: that is what proxies see every day, and the trace shows no status.
      response.destroy();
    }
  }
}
