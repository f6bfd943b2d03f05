import { Worker } from "node:worker_threads";

import { type Log, silentLog } from "../reconcile/log.ts";
import { unreachable } from "../unreachable.ts";
import type { WebhookServerOptions } from "../webhook/webhook-server.ts";
import type { ThreadOrder, ThreadReport, ThreadSettings } from "./thread-messages.ts";

/** What a webhook thread is made of: a server's options, and a module instead of the routes. */
export interface WebhookThreadOptions extends Omit<WebhookServerOptions, "routes"> {
  /** The module that the thread runs; it ends with `serveOnThread(routes)`. */
  readonly entry: URL;
}

/**
 * A webhook server on a thread of its own: reviews are answered within milliseconds also while the main thread takes in ten
 * thousand objects. Certificates, log and metrics stay on the main thread. `await using` stops it.
 *
 * @example
 * await using webhooks = new WebhookThread({ entry: new URL("./webhooks.ts", import.meta.url), certificates, system });
 * await webhooks.listen();
 */
export class WebhookThread implements AsyncDisposable {
  readonly #options: WebhookThreadOptions;
  readonly #log: Log;
  readonly #listening = Promise.withResolvers<number>();
  readonly #ended = Promise.withResolvers<undefined>();
  #worker: Worker | undefined;
  #subscription: Disposable | undefined;
  #isListening = false;
  #isStopping = false;

  constructor(options: WebhookThreadOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
  }

  /** Begins to answer and gives the port. Throws when there is no certificate yet, or the thread or the port fails. */
  async listen(): Promise<number> {
    const { entry, certificates, system: _system, log: _log, observer: _observer, ...server } = this.#options;
    const certificate = certificates.current();
    if (certificate === undefined) throw new Error("there is no serving certificate yet");
    const settings: ThreadSettings = { certificate, server };
    const worker = new Worker(entry, { workerData: settings, name: "webhooks" });
    this.#worker = worker;
    worker.on("message", (report: ThreadReport) => {
      this.#hear(report);
    });
    worker.on("error", (error) => {
      this.#fail(error);
    });
    worker.on("exit", () => {
      this.#exit();
    });
    this.#subscription = certificates.onChange(() => {
      const next = certificates.current();
      if (next !== undefined) this.#order({ kind: "certificate", certificate: next });
    });
    return await this.#listening.promise;
  }

  /** Whether reviews are answered; for the readiness probe. False for good once the thread has died. */
  get isListening(): boolean {
    return this.#isListening && !this.#isStopping;
  }

  /** As `WebhookServer.stop`; the thread is ended in any case. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const { system, drainMs = 10_000 } = this.#options;
    this.#isStopping = true;
    this.#subscription?.[Symbol.dispose]();
    this.#order({ kind: "stop" });
    // A route that blocks its thread cannot be drained; the server itself needs no more than its own limit.
    const limit = system.setTimer(drainMs + 1_000, () => {
      this.#ended.resolve(undefined);
    });
    await this.#ended.promise;
    limit.cancel();
    await worker.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #order(order: ThreadOrder): void {
    this.#worker?.postMessage(order);
  }

  #hear(report: ThreadReport): void {
    const { observer = {} } = this.#options;
    switch (report.kind) {
      case "listening":
        this.#isListening = true;
        this.#listening.resolve(report.port);
        return;
      case "failed":
        this.#listening.reject(report.error);
        return;
      case "started":
        observer.webhookStarted?.({ webhook: report.webhook });
        return;
      case "finished": {
        const { webhook, code, durationMs } = report;
        observer.webhookFinished?.({ webhook, code, durationMs });
        return;
      }
      case "threw":
        observer.webhookFailed?.({ webhook: report.webhook, review: report.review });
        return;
      case "logged":
        this.#log[report.level](report.message, report.fields);
        return;
      case "stopped":
        this.#ended.resolve(undefined);
        return;
      default:
        unreachable(report);
    }
  }

  #fail(error: unknown): void {
    this.#log.error("the webhook thread failed", { err: error });
    this.#listening.reject(error);
  }

  #exit(): void {
    this.#isListening = false;
    this.#ended.resolve(undefined);
    this.#listening.reject(new Error("the webhook thread ended before it listened"));
    if (!this.#isStopping) this.#log.error("the webhook thread ended; reviews are not answered any more");
  }
}
