import type { IncomingMessage } from "node:http";

/** A body, or why there is none. */
export type Body =
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  | { readonly kind: "tooLarge" }
  /** The caller went away. */
  | { readonly kind: "broken" };

/**
 * Reads a request's body up to the limit. What is beyond is thrown away unseen for a while, so that a caller that is still
 * sending hears the refusal, and then no longer read.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Body> {
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
