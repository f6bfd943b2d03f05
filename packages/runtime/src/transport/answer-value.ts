import { ApiError } from "../errors.ts";
import type { Answer } from "./exchange.ts";
import { parseJson } from "./json.ts";
import { type ApiRequest, describeRequest } from "./request.ts";

/** The value of a 2xx answer: JSON, or plain text as a string. Anything else did not come from an API server. */
export function readAnswer(request: ApiRequest, answer: Answer): { readonly value: unknown } | ApiError {
  if (answer.contentType.startsWith("text/plain")) return { value: answer.text };
  if (answer.text === "") return { value: undefined };
  if (!isJson(answer.contentType)) return unexpected(request, answer, "UnexpectedContentType");
  try {
    return { value: parseJson(answer.text) };
  } catch (error) {
    // Not attached as cause: it quotes the text, and that may be a Secret.
    if (error instanceof SyntaxError) return unexpected(request, answer, "BrokenJson");
    throw error;
  }
}

function isJson(contentType: string): boolean {
  return contentType.startsWith("application/json") || contentType.includes("+json");
}

function unexpected(request: ApiRequest, { status }: Answer, reason: string): ApiError {
  return new ApiError(`${describeRequest(request)}: ${status} ${reason}`, {
    class: "transient",
    status,
    reason,
    mayHaveActed: true,
  });
}
