import type { Attributes, Span, SpanOptions, Tracer } from "@opentelemetry/api";
import { describe, expect, test } from "vitest";

import { createSpans } from "../../src/telemetry/spans.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";

interface Recorded {
  readonly name: string;
  readonly options: SpanOptions | undefined;
  isFailed: boolean;
  endMs: unknown;
}

/** A tracer that remembers. */
function recorder(): { readonly tracer: Tracer; readonly spans: Recorded[] } {
  const spans: Recorded[] = [];
  const startSpan = (name: string, options?: SpanOptions): Span => {
    const recorded: Recorded = { name, options, isFailed: false, endMs: undefined };
    spans.push(recorded);
    return {
      setStatus: () => (recorded.isFailed = true),
      end: (endMs: unknown) => (recorded.endMs = endMs),
    } as unknown as Span;
  };
  return { tracer: { startSpan } as unknown as Tracer, spans };
}

describe("spans", () => {
  test("cover passes, requests and webhook answers from their beginning to their end", () => {
    const system = new VirtualSystem();
    const { tracer, spans } = recorder();
    const hooks = createSpans(system, tracer);
    hooks.telemetry.reconcileFinished({
      controller: "copy",
      result: "error",
      durationMs: 40,
      errorClass: "conflict",
    });
    hooks.observe({
      method: "GET",
      verb: "list",
      host: "h",
      code: "200",
      durationMs: 5,
      requestBytes: 0,
      responseBytes: 1,
    });
    hooks.webhooks.webhookFinished({ webhook: "/pods", code: 500, durationMs: 2 });
    const endMs = system.wallMs();
    const shown = spans.map(({ name, options, isFailed }) => ({
      name,
      isFailed,
      startTime: options?.startTime,
    }));
    expect(shown).toEqual([
      { name: "reconcile", isFailed: true, startTime: endMs - 40 },
      { name: "api list", isFailed: false, startTime: endMs - 5 },
      { name: "webhook", isFailed: true, startTime: endMs - 2 },
    ]);
    expect(spans.every((span) => span.endMs === endMs)).toBe(true);
    const attributes: Attributes = spans[0]?.options?.attributes ?? {};
    expect(attributes).toEqual({ controller: "copy", result: "error", "error.type": "conflict" });
  });

  test("cost nothing and do nothing without an SDK", () => {
    const hooks = createSpans(new VirtualSystem());
    expect(() => {
      hooks.telemetry.reconcileFinished({ controller: "copy", result: "success", durationMs: 1 });
    }).not.toThrow();
  });
});
