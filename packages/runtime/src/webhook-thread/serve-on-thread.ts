import { parentPort, workerData } from "node:worker_threads";

import { CurrentCertificate } from "../certificates/current-certificate.ts";
import type { Log, LogFields } from "../reconcile/log.ts";
import { realSystem } from "../system/real-system.ts";
import { unreachable } from "../unreachable.ts";
import type { WebhookRoute } from "../webhook/answer-review.ts";
import type { WebhookObserver } from "../webhook/request-handler.ts";
import { WebhookServer } from "../webhook/webhook-server.ts";
import type { ThreadOrder, ThreadReport, ThreadSettings } from "./thread-messages.ts";

/**
 * Answers reviews on the thread that a `WebhookThread` started: the last line of its entry module. Decisions see the review
 * and nothing else, for stores are on the other thread.
 *
 * @example
 * serveOnThread([{ kind: "admission", path: "/pods", decide }]);
 */
export function serveOnThread(routes: readonly WebhookRoute[]): void {
  const port = parentPort;
  if (port === null) throw new TypeError("this is not a thread that a WebhookThread started");
  const tell = (report: ThreadReport): void => {
    port.postMessage(report);
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both ends are this package, of one version
  const { certificate, server: options } = workerData as ThreadSettings;
  const certificates = new CurrentCertificate();
  certificates.use(certificate);
  const parts = { routes, certificates, system: realSystem(), log: logTo(tell), observer: observerTo(tell) };
  const server = new WebhookServer({ ...options, ...parts });
  port.on("message", (order: ThreadOrder) => {
    switch (order.kind) {
      case "certificate":
        certificates.use(order.certificate);
        return;
      case "stop":
        void stop(server, tell);
        return;
      default:
        unreachable(order);
    }
  });
  void listen(server, tell);
}

async function listen(server: WebhookServer, tell: (report: ThreadReport) => void): Promise<void> {
  try {
    tell({ kind: "listening", port: await server.listen() });
  } catch (error) {
    tell({ kind: "failed", error });
  }
}

async function stop(server: WebhookServer, tell: (report: ThreadReport) => void): Promise<void> {
  await server.stop();
  tell({ kind: "stopped" });
}

function observerTo(tell: (report: ThreadReport) => void): WebhookObserver {
  return {
    webhookStarted: (event) => {
      tell({ kind: "started", ...event });
    },
    webhookFinished: (event) => {
      tell({ kind: "finished", ...event });
    },
    webhookFailed: (event) => {
      tell({ kind: "threw", ...event });
    },
  };
}

function logTo(tell: (report: ThreadReport) => void, bound: LogFields = {}): Log {
  const at =
    (level: Extract<ThreadReport, { kind: "logged" }>["level"]) =>
    (message: string, fields: LogFields = {}): void => {
      tell({ kind: "logged", level, message, fields: sendable({ ...bound, ...fields }) });
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => logTo(tell, { ...bound, ...fields }),
  };
}

/** What was thrown may be anything, a function too; only plain values and errors cross to another thread. */
function sendable(fields: LogFields): LogFields {
  const pairs = Object.entries(fields).map(
    ([name, value]) => [name, isSendable(value) ? value : String(value)] as const,
  );
  return Object.fromEntries(pairs);
}

function isSendable(value: unknown): boolean {
  return value instanceof Error || (typeof value !== "object" && typeof value !== "function");
}
