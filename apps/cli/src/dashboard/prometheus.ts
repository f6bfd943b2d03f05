import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

import type { Transport } from "@quartermaster/runtime";
import { z } from "zod";

import { CliError, usageError } from "../errors.ts";

/** Asks a Prometheus for a path with its query, e.g. `/api/v1/query_range?query=up…`, and gives its response unread. */
export type QueryPrometheus = (path: string, signal: AbortSignal) => Promise<unknown>;

const largestResponseBytes = 8 * 1024 * 1024;
const timeoutMs = 30_000;

/** A Prometheus at an address that the user names. Redirects are not followed. */
export function prometheusAt(address: string, ca: string | undefined): QueryPrometheus {
  const base = addressOf(address);
  return async (path, signal) => {
    const url = new URL(`${base.pathname.replace(/\/$/, "")}${path}`, base);
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const requested = send(url, { signal, timeout: timeoutMs, ca });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    requested.once("timeout", () => requested.destroy(new Error("no response within 30 s")));
    requested.once("error", reject);
    requested.once("response", (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > largestResponseBytes) requested.destroy(new Error("the response is larger than 8 MiB"));
        else chunks.push(chunk);
      });
      response.once("error", reject);
      response.once("end", () => {
        resolve(Buffer.concat(chunks).toString());
      });
    });
    requested.end();
    return parsed(await named(promise, base.origin), base.origin);
  };
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw usageError("--prometheus must be an http:// or https:// address");
  if (url.username !== "" || url.password !== "")
    throw usageError("--prometheus must not hold a password: every user of this machine could read it");
  return url;
}

async function named(response: Promise<string>, where: string): Promise<string> {
  try {
    return await response;
  } catch (error) {
    throw new CliError(`cannot ask ${where}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${where} does not respond as a Prometheus does`);
  }
}

/** The Prometheus of a standalone stack through the API server, with the user's permission to use Services as a proxy. */
export function prometheusBehind(
  transport: Pick<Transport, "send">,
  {
    namespace,
    service,
    port,
  }: { readonly namespace: string; readonly service: string; readonly port: number },
): QueryPrometheus {
  const base = `/api/v1/namespaces/${namespace}/services/https:${service}:${String(port)}/proxy`;
  return async (path, signal) =>
    await transport.send({
      method: "GET",
      path: `${base}${path}`,
      verb: "proxy",
      subject: { kind: "Service", ref: { namespace, name: service } },
      timeoutMs,
      signal,
    });
}

const rangeSchema = z.object({
  status: z.literal("success"),
  data: z.object({
    resultType: z.literal("matrix"),
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        values: z.array(z.tuple([z.number(), z.string()])),
      }),
    ),
  }),
});
const failureSchema = z.object({ status: z.literal("error"), error: z.string() });

/** One line of a chart, as Prometheus tells it. */
export type RangeSeries = z.infer<typeof rangeSchema>["data"]["result"][number];

/** A stretch of time, in seconds since the epoch. */
export interface TimeRange {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly stepSeconds: number;
}

/** The response to a range query. Throws a CliError where it is none. */
export async function queryRange(
  request: QueryPrometheus,
  { expr, range, signal }: { readonly expr: string; readonly range: TimeRange; readonly signal: AbortSignal },
): Promise<readonly RangeSeries[]> {
  const requested = new URLSearchParams({
    query: expr,
    start: String(range.fromSeconds),
    end: String(range.toSeconds),
    step: String(range.stepSeconds),
  });
  const response = await request(`/api/v1/query_range?${requested.toString()}`, signal);
  const failure = failureSchema.safeParse(response);
  if (failure.success) throw new CliError(`Prometheus refuses a query: ${failure.data.error}`);
  const read = rangeSchema.safeParse(response);
  if (!read.success) throw new CliError("the response to a query is not one of Prometheus");
  return read.data.data.result;
}
