import type { IncomingMessage } from "node:http";

import { classify } from "../errors.ts";
import { durationMs } from "../object/duration-ms.ts";
import type { Log } from "../reconcile/log.ts";
import type { System } from "../system/system.ts";
import { respondToReview, refusal, type Reply, type WebhookRoute } from "./respond-to-review.ts";

/** Hooks for metrics; `webhook` is the route's path. */
export interface WebhookObserver {
  webhookStarted?(event: { readonly webhook: string }): void;
  webhookFinished?(event: {
    readonly webhook: string;
    readonly code: number;
    readonly durationMs: number;
  }): void;
  /** The route threw. */
  webhookFailed?(event: { readonly webhook: string; readonly review: WebhookRoute["kind"] }): void;
}

export interface RequestHandlerOptions {
  readonly routes: ReadonlyMap<string, WebhookRoute>;
  readonly system: System;
  readonly log: Log;
  readonly observer: WebhookObserver;
  readonly bodyLimitBytes: number;
}

/** The reply to a request; undefined when the caller went away. Never throws. */
export async function handleRequest(
  request: IncomingMessage,
  options: RequestHandlerOptions,
): Promise<Reply | undefined> {
  const url = URL.parse(request.url ?? "", "https://webhook.invalid");
  const route = url === null ? undefined : options.routes.get(url.pathname);
  if (url === null || route === undefined) return refusal(404, "there is no such webhook");
  const { system, observer } = options;
  const webhook = route.path;
  const startMs = system.monotonicMs();
  observer.webhookStarted?.({ webhook });
  const reply = await withDeadline({ request, route, url }, options);
  // 499 is what proxies write down for a caller that went away.
  observer.webhookFinished?.({
    webhook,
    code: reply?.status ?? 499,
    durationMs: system.monotonicMs() - startMs,
  });
  return reply;
}

interface Call {
  readonly request: IncomingMessage;
  readonly route: WebhookRoute;
  readonly url: URL;
}

/** Responds before the caller's deadline, whatever the route does. */
async function withDeadline(call: Call, options: RequestHandlerOptions): Promise<Reply | undefined> {
  const deadline = new AbortController();
  const { promise: tooLate, resolve } = Promise.withResolvers<Reply>();
  const timer = options.system.setTimer(respondWithinMs(callerTimeoutMs(call.url)), () => {
    resolve(refusal(504, "there is no response in time"));
    deadline.abort(new DOMException("the caller waits no longer", "TimeoutError"));
  });
  try {
    return await Promise.race([response(call, deadline.signal, options), tooLate]);
  } finally {
    timer.cancel();
  }
}

async function response(
  { request, route }: Call,
  signal: AbortSignal,
  { system, log, observer, bodyLimitBytes: serverLimitBytes }: RequestHandlerOptions,
): Promise<Reply | undefined> {
  const bodyLimitBytes = Math.min(route.bodyLimitBytes ?? serverLimitBytes, serverLimitBytes);
  const unfit = unfitHeaders(request, bodyLimitBytes);
  if (unfit !== undefined) return unfit;
  try {
    const body = await readBody(request, bodyLimitBytes);
    if (body.kind === "broken") return undefined;
    if (body.kind === "tooLarge") return tooLarge;
    // Only now: a caller that sends its body slowly must not slow down anybody else.
    using _ = system.beginUrgent();
    return await respondToReview(route, body.bytes, signal);
  } catch (error) {
    observer.webhookFailed?.({ webhook: route.path, review: route.kind });
    log.error("a webhook failed", { webhook: route.path, code: classify(error), err: error });
    return refusal(500, "the webhook failed");
  }
}

const tooLarge = refusal(413, "the review is too large");

/** Requests that can be refused before the body is read. */
function unfitHeaders({ method, headers }: IncomingMessage, bodyLimitBytes: number): Reply | undefined {
  if (method !== "POST") return refusal(405, "reviews are posted");
  const mediaType = (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (mediaType !== "application/json") return refusal(415, "reviews are application/json");
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    return refusal(415, "reviews are not compressed");
  }
  // A body twice as large is not even read to its end.
  return Number(headers["content-length"] ?? 0) > 2 * bodyLimitBytes ? tooLarge : undefined;
}

/** How long the API server waits for us, from the `timeout` that it puts into the query; 10 s where it says nothing. */
export function callerTimeoutMs(url: URL): number {
  const given = durationMs(url.searchParams.get("timeout") ?? "");
  return Math.min(given ?? defaultMs, longestMs);
}

/** The share of the caller's time that we use; the rest is for the way back. */
export function respondWithinMs(timeoutMs: number): number {
  return timeoutMs - Math.min(500, timeoutMs / 10);
}

const defaultMs = 10_000;

/** Maximum of a webhook configuration. */
const longestMs = 30_000;

/** A body, or why there is none. */
type Body =
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  | { readonly kind: "tooLarge" }
  /** The caller went away. */
  | { readonly kind: "broken" };

/**
 * Reads a request's body up to the limit. What is beyond is thrown away unseen for a while, so that a caller that is still
 * sending hears the refusal, and then no longer read.
 */
async function readBody(request: IncomingMessage, limitBytes: number): Promise<Body> {
  const chunks: Buffer[] = [];
  let lengthBytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      lengthBytes += chunk.length;
      if (lengthBytes <= limitBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (lengthBytes > limitBytes * discardFactor) break;
    }
  } catch (error) {
    if (error instanceof Error) return { kind: "broken" };
    throw error;
  }
  if (lengthBytes > limitBytes) return { kind: "tooLarge" };
  return { kind: "bytes", bytes: Buffer.concat(chunks) };
}

const discardFactor = 2;
