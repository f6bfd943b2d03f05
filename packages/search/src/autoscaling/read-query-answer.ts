import { z } from "zod";

import type { Exchange } from "../engine/exchange.ts";

/** A moment, and a number as Prometheus writes it: in quotes. */
const point = z.tuple([z.number(), z.string().max(64)]);

const answer = z.object({
  status: z.literal("success"),
  data: z.discriminatedUnion("resultType", [
    z.object({ resultType: z.literal("scalar"), result: point }),
    z.object({ resultType: z.literal("vector"), result: z.tuple([z.object({ value: point })]) }),
  ]),
});

/**
 * The one number that a Prometheus answered with: finite and not negative. Undefined for everything else, errors too: what is not
 * known is never 0.
 */
export function readQueryAnswer(end: Exchange): number | undefined {
  if (end.kind === "failure" || end.status !== 200) return undefined;
  const { success, data } = answer.safeParse(jsonIn(end.body));
  if (!success) return undefined;
  const { data: found } = data;
  return numberIn(found.resultType === "scalar" ? found.result[1] : found.result[0].value[1]);
}

function jsonIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** `NaN`, `+Inf` and `-Inf` are no numbers to size a pool by. Beyond what can be counted exactly, more is the same. */
function numberIn(text: string): number | undefined {
  if (!/^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? Math.min(value, Number.MAX_SAFE_INTEGER) : undefined;
}
