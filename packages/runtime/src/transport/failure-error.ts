import { ApiError, type ApiErrorFacts } from "../errors.ts";
import { unreachable } from "../unreachable.ts";
import { type ApiRequest, describeRequest } from "./api-request.ts";
import { responseLimitBytes, type Failure } from "./exchange.ts";

/** The error of a request without a whole response. */
export function failureError(
  request: Pick<ApiRequest, "verb" | "subject">,
  failure: Pick<Failure, "why" | "sent" | "cause">,
): ApiError {
  const { problem, ...facts } = factsOf(failure);
  return new ApiError(`${describeRequest(request)}: ${problem}`, {
    ...facts,
    mayHaveActed: failure.sent,
    cause: failure.cause,
  });
}

interface FailureFacts extends Pick<ApiErrorFacts, "class" | "reason"> {
  readonly problem: string;
}

function factsOf({ why, sent, cause }: Pick<Failure, "why" | "sent" | "cause">): FailureFacts {
  switch (why) {
    case "aborted":
      return { class: "aborted", problem: "given up by the caller" };
    case "timeout":
      return { class: "timeout", problem: sent ? "no response in time" : "no connection in time" };
    case "bodyTooLarge":
      return {
        class: "tooLarge",
        reason: responseTooLarge,
        problem: `response exceeds ${responseLimitBytes} bytes`,
      };
    case "broken":
      return brokenFacts(sent, codeOf(cause));
    default:
      return unreachable(why);
  }
}

/** Reason of a `tooLarge` that is about the response, not about our request: request less. */
export const responseTooLarge = "ResponseTooLarge";

function brokenFacts(sent: boolean, reason: string): FailureFacts {
  if (reason === "UND_ERR_INVALID_ARG") return { class: "bug", reason, problem: "malformed request" };
  const problem = sent ? `connection broke (${reason})` : `no connection (${reason})`;
  return { class: "transient", reason, problem };
}

/** Code of the innermost error that has one, e.g. `ECONNREFUSED`. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if (error.cause instanceof Error) return codeOf(error.cause);
  const code: unknown = "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : error.name;
}
