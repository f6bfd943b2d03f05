import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import { type Log, silentLog } from "../reconcile/log.ts";
import { drain, listen } from "../serving/listen.ts";
import type { System } from "../system/system.ts";
import type { Metrics } from "./metrics.ts";

/** Checks of a probe; each name with whether it passes. */
export type Checks = Readonly<Record<string, () => boolean>>;

export interface TelemetryServerOptions {
  readonly system: System;
  readonly metrics: Pick<Metrics, "render" | "contentType">;
  /** For `/healthz`: whether the process is worth keeping. */
  readonly health?: Checks | undefined;
  /** For `/readyz`: whether it may be sent work. */
  readonly readiness?: Checks | undefined;
  /** Parts that do not work, by name, for `/readyz`. They do not make it fail. */
  readonly off?: (() => readonly { readonly name: string; readonly message: string }[]) | undefined;
  /** Default: 8080; 0 takes any that is free. */
  readonly port?: number | undefined;
  /** Default: all addresses. */
  readonly host?: string | undefined;
  readonly log?: Log | undefined;
}

/** Serves `/metrics`, `/healthz` and `/readyz` over plain HTTP. `await using` stops it. */
export class TelemetryServer implements AsyncDisposable {
  readonly #options: TelemetryServerOptions;
  readonly #server: Server;
  #isStopping = false;

  constructor(options: TelemetryServerOptions) {
    this.#options = options;
    const limits = { requestTimeout: 5_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 };
    this.#server = createServer(limits, (request, response) => {
      void this.#serve(request, response);
    });
    this.#server.maxConnections = 100;
  }

  /** Begins to serve and returns the port. Throws when the port is taken. */
  async listen(): Promise<number> {
    const { port = 8080, host, log = silentLog } = this.#options;
    return await listen(this.#server, { port, host, log });
  }

  /** From now on `/readyz` fails, so that no new work is sent; the rest is still served. */
  announceStop(): void {
    this.#isStopping = true;
  }

  /** Responses in progress are finished within 2 s, the rest is cut. */
  async stop(): Promise<void> {
    this.announceStop();
    await drain(this.#server, { system: this.#options.system, limitMs: 2_000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, contentType, body } = await this.#response(request);
    const isLast = this.#isStopping && { connection: "close" };
    response.writeHead(status, { "content-type": contentType, ...isLast });
    response.end(request.method === "HEAD" ? "" : body);
  }

  async #response({ method, url = "" }: IncomingMessage): Promise<Page> {
    if (method !== "GET" && method !== "HEAD") return text(405, "only to be read\n");
    const { metrics, health = {}, readiness = {}, log = silentLog } = this.#options;
    try {
      switch (url.replace(/\?.*/s, "")) {
        case "/metrics":
          return { status: 200, contentType: metrics.contentType, body: await metrics.render() };
        case "/healthz":
          return report(health);
        case "/readyz":
          return report({ ...readiness, running: () => !this.#isStopping }, this.#options.off?.());
        default:
          return text(404, "nothing here\n");
      }
    } catch (error) {
      log.error("telemetry could not be shown", { err: error });
      return text(500, "failed\n");
    }
  }
}

interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

function text(status: number, body: string): Page {
  return { status, contentType: "text/plain; charset=utf-8", body };
}

/** As Kubernetes' own probes read: a line for each check. */
function report(
  checks: Checks,
  off: readonly { readonly name: string; readonly message: string }[] = [],
): Page {
  const lines = Object.entries(checks).map(([name, isWell]) => ({ name, isWell: isWell() }));
  const body = lines.map(
    ({ name, isWell }) => `[${isWell ? "+" : "-"}]${name} ${isWell ? "ok" : "failed"}\n`,
  );
  const notes = off.map(({ name, message }) => `[!]${name} ${message}\n`);
  const isWell = lines.every((line) => line.isWell);
  return text(isWell ? 200 : 500, `${[...body, ...notes].join("")}${isWell ? "ok" : "failed"}\n`);
}
