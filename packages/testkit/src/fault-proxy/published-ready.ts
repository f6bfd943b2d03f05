import { z } from "zod";

/** The Ready condition of a status, and the generation that it was judged by. */
export interface PublishedReady {
  readonly isReady: boolean;
  readonly generation: number | undefined;
}

/** Reads it from the body of a write of a status; undefined for a body of another form. */
export function publishedReady(body: string): PublishedReady | undefined {
  const parsed = writtenStatus.safeParse(parsedJson(body));
  const ready = parsed.data?.status.conditions.find(({ type }) => type === "Ready");
  if (ready === undefined) return undefined;
  return { isReady: ready.status === "True", generation: ready.observedGeneration };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const writtenStatus = z.object({
  status: z.object({
    conditions: z.array(
      z.object({ type: z.string(), status: z.string(), observedGeneration: z.int().optional() }),
    ),
  }),
});
