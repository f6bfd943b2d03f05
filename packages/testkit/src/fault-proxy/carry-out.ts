import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import type { Fault } from "./fault.ts";
import { syntheticBody } from "./fault.ts";
import type { Forwarder, Message } from "./forwarder.ts";
import { withoutPreconditions } from "./preconditions.ts";
import type { SeenRequest } from "./seen-request.ts";
import type { WatchTransform } from "./watch-transform.ts";
import { toFrames } from "./watch-transform.ts";

/** A request in progress. */
export interface Exchange {
  readonly message: Message;
  readonly seen: SeenRequest;
  readonly isWatch: boolean;
  readonly response: ServerResponse;
  readonly forwarder: Forwarder;
  /** Aborts when the proxy is closed. */
  readonly signal: AbortSignal;
  /** While muted the proxy passes no new request on. */
  readonly mute: (isMuted: boolean) => void;
}

/** Does the fault to the request, or passes it on untouched. */
export async function carryOut(fault: Fault | undefined, exchange: Exchange): Promise<void> {
  const { message, response, forwarder } = exchange;
  const signal = endOf(exchange);
  switch (fault?.kind) {
    case undefined:
      await passOn(await forwarder.send(message, signal), exchange);
      break;
    case "crash-before":
      fault.kill();
      response.destroy();
      break;
    case "crash-after-commit":
      await buffer(await forwarder.send(message, signal));
      fault.kill();
      response.destroy();
      break;
    case "crash-after-answer":
      await crashAfterResponse(await forwarder.send(message, signal), exchange, fault.kill);
      break;
    case "answer":
      response
        .writeHead(fault.status, { "content-type": "application/json", ...fault.headers })
        .end(syntheticBody(fault));
      break;
    case "interleave":
      await interleave(fault, exchange, signal);
      break;
    case "hold-request":
      break; // the client gives up, or the proxy is closed
    case "hold-answer":
      await buffer(await forwarder.send(message, signal));
      break; // likewise
    case "answer-stale":
      await respondStale(fault, exchange, signal);
      break;
    case "cut-answer":
    case "truncate-answer":
    case "mislabel-answer":
      await spoil(fault, await forwarder.send(message, signal), response);
      break;
    case "watch":
      await passOn(await forwarder.send(message, signal), exchange, fault.transform);
      break;
    default:
      unreachable(fault);
  }
}

async function respondStale(
  { isCached = false, transform }: Extract<Fault, { kind: "answer-stale" }>,
  exchange: Exchange,
  signal: AbortSignal,
): Promise<void> {
  const message = isCached ? fromCache(exchange.message) : exchange.message;
  await passOn(await exchange.forwarder.sendStale(message, signal), exchange, transform);
}

/** The same read at version 0: the server answers from memory. A watch that continues from a version keeps it. */
function fromCache(message: Message): Message {
  const url = new URL(message.path, "https://api");
  const { searchParams } = url;
  if (searchParams.has("watch") && searchParams.get("sendInitialEvents") !== "true") return message;
  searchParams.set("resourceVersion", "0");
  return { ...message, path: `${url.pathname}${url.search}` };
}

async function interleave(
  { act, without = [], after }: Extract<Fault, { kind: "interleave" }>,
  exchange: Exchange,
  signal: AbortSignal,
): Promise<void> {
  const { message, seen, forwarder } = exchange;
  await act({ ...seen, body: message.body.toString("utf8") });
  const reply = await forwarder.send(withoutPreconditions(message, without), signal);
  await after?.(reply.statusCode ?? 500);
  await passOn(reply, exchange);
}

/** Time for a response to be read by its receiver, and for a signal to take effect. */
const momentMs = 50;

/** Between the response and the kill the operator may request more: none of that may reach the server. */
async function crashAfterResponse(
  reply: IncomingMessage,
  exchange: Exchange,
  kill: () => void,
): Promise<void> {
  exchange.mute(true);
  try {
    await passOn(reply, exchange);
    await sleep(momentMs);
    kill();
    await sleep(momentMs);
  } finally {
    exchange.mute(false);
  }
}

async function passOn(
  reply: IncomingMessage,
  { response, isWatch, ...exchange }: Exchange,
  transform?: WatchTransform,
): Promise<void> {
  response.writeHead(reply.statusCode ?? 500, reply.headers);
  if (isWatch) response.flushHeaders();
  const signal = endOf({ ...exchange, response });
  const chunks = reply as AsyncIterable<Buffer>;
  const parts = transform === undefined || !isWatch ? chunks : transform(toFrames(chunks), signal);
  for await (const part of parts) {
    if (!response.write(part)) await drained(response, signal);
  }
  response.end();
}

type SpoilingFault = Extract<Fault, { readonly kind: "cut-answer" | "truncate-answer" | "mislabel-answer" }>;

async function spoil(fault: SpoilingFault, reply: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(reply);
  const { "content-length": _length, "transfer-encoding": _encoding, ...headers } = reply.headers;
  const status = reply.statusCode ?? 500;
  if (fault.kind === "mislabel-answer") {
    response.writeHead(status, { ...headers, "content-type": fault.contentType }).end(body);
    return;
  }
  const part = body.subarray(0, fault.afterBytes);
  if (fault.kind === "truncate-answer") {
    response.writeHead(status, headers).end(part);
    return;
  }
  response.writeHead(status, { ...headers, "content-length": String(body.length) });
  const { promise: written, resolve } = Promise.withResolvers<void>();
  response.write(part, () => resolve());
  await written;
  response.socket?.resetAndDestroy();
}

/** Aborts as soon as the client has gone or the proxy is closed. */
function endOf({ response, signal }: Pick<Exchange, "response" | "signal">): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return AbortSignal.any([signal, gone.signal]);
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  response.once("drain", () => resolve());
  signal.addEventListener("abort", () => reject(new Error("the client has closed the connection")), {
    once: true,
  });
  await promise;
}

function unreachable(fault: never): never {
  throw new Error(`unknown fault ${JSON.stringify(fault)}`);
}
