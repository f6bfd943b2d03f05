import { z } from "zod";

import { CliError } from "../errors.ts";
import type { AskPrometheus } from "./ask-prometheus.ts";

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

/** The answer to a range query. Throws a CliError where it is none. */
export async function queryRange(
  ask: AskPrometheus,
  { expr, range, signal }: { readonly expr: string; readonly range: TimeRange; readonly signal: AbortSignal },
): Promise<readonly RangeSeries[]> {
  const asked = new URLSearchParams({
    query: expr,
    start: String(range.fromSeconds),
    end: String(range.toSeconds),
    step: String(range.stepSeconds),
  });
  const answer = await ask(`/api/v1/query_range?${asked.toString()}`, signal);
  const failure = failureSchema.safeParse(answer);
  if (failure.success) throw new CliError(`Prometheus refuses a query: ${failure.data.error}`);
  const read = rangeSchema.safeParse(answer);
  if (!read.success) throw new CliError("the answer to a query is not one of Prometheus");
  return read.data.data.result;
}
