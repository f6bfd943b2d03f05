import { type Attributes, SpanKind, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";

import type { ControllerObserver } from "../controller/controller-host.ts";
import type { System } from "../system/system.ts";
import type { Observation } from "../transport/transport.ts";
import type { WebhookObserver } from "../webhook/request-handler.ts";

/** Hooks that make spans; each goes where the metrics' hook of that name goes, see `both`. */
export interface Spans {
  readonly telemetry: Required<Pick<ControllerObserver, "reconcileFinished">>;
  readonly observe: (observation: Observation) => void;
  readonly webhooks: Required<Pick<WebhookObserver, "webhookFinished">>;
}

/**
 * A span per reconcile, per request and per webhook response, made when it is over: without an SDK this costs next to nothing. Names
 * of objects are not attributes, because tenants choose them.
 */
export function createSpans(
  system: System,
  tracer: Tracer = trace.getTracer("@quartermaster/runtime"),
): Spans {
  const span = (name: string, { kind, durationMs, attributes, isFailed }: SpanFacts): void => {
    const endMs = system.wallMs();
    const made = tracer.startSpan(name, { kind, attributes, startTime: endMs - durationMs });
    if (isFailed) made.setStatus({ code: SpanStatusCode.ERROR });
    made.end(endMs);
  };
  return {
    telemetry: {
      reconcileFinished: ({ controller, result, durationMs, errorClass }) => {
        const attributes = {
          controller,
          result,
          ...(errorClass !== undefined && { "error.type": errorClass }),
        };
        const isFailed = result === "error";
        span("reconcile", { kind: SpanKind.INTERNAL, durationMs, attributes, isFailed });
      },
    },
    observe: ({ method, verb, host, code, durationMs }) => {
      const attributes = {
        "http.request.method": method,
        "server.address": host,
        "http.response.code": code,
        verb,
      };
      const isFailed = !code.startsWith("2");
      span(`api ${verb}`, { kind: SpanKind.CLIENT, durationMs, attributes, isFailed });
    },
    webhooks: {
      webhookFinished: ({ webhook, code, durationMs }) => {
        const attributes = { "http.route": webhook, "http.response.code": String(code) };
        span("webhook", { kind: SpanKind.SERVER, durationMs, attributes, isFailed: code >= 500 });
      },
    },
  };
}

interface SpanFacts {
  readonly kind: SpanKind;
  readonly durationMs: number;
  readonly attributes: Attributes;
  readonly isFailed: boolean;
}
