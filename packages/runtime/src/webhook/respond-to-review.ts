import { isTextDeeperThan } from "../object/is-deeper-than.ts";
import { tryParseJson, stringifyJson } from "../transport/parse-json.ts";
import { unreachable } from "../unreachable.ts";
import { admissionResponse, type DecideAdmission, readAdmission } from "./admission.ts";
import { conversionResponse, type ConvertObject, readConversion } from "./conversion.ts";

/** Handler of the reviews of a path. The path is the webhook's name in metrics. */
export type WebhookRoute = {
  readonly path: string;
  /** Larger reviews are refused (default: the server's limit, which is never exceeded). */
  readonly bodyLimitBytes?: number;
} & (
  | { readonly kind: "admission"; readonly decide: DecideAdmission }
  | { readonly kind: "conversion"; readonly convert: ConvertObject }
);

/** An HTTP response. Refusals are one constant sentence: nothing of the request or of an error is repeated. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly contentType: "application/json" | "text/plain";
}

/** Levels that a review may have; Kubernetes' own kinds need fewer than 30. */
const depthLimit = 100;

/** Responds to a review. Throws what the route throws. */
export async function respondToReview(
  route: WebhookRoute,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<Reply> {
  if (isTextDeeperThan(bytes, depthLimit)) return refusal(400, "the review is nested too deeply");
  const review = tryParseJson(bytes.toString("utf8"));
  if (review === undefined) return refusal(400, "the review is not JSON");
  const response = await responseOf(route, review.value, signal);
  if (response === undefined) return refusal(400, "the review is not one of v1 with a uid");
  return { status: 200, body: stringifyJson(response), contentType: "application/json" };
}

/** A refusal in one sentence. */
export function refusal(status: number, sentence: string): Reply {
  return { status, body: `${sentence}\n`, contentType: "text/plain" };
}

async function responseOf(route: WebhookRoute, review: unknown, signal: AbortSignal): Promise<unknown> {
  switch (route.kind) {
    case "admission": {
      const request = readAdmission(review);
      if (request === undefined) return undefined;
      return admissionResponse(request.uid, await route.decide(request, { signal }));
    }
    case "conversion": {
      const request = readConversion(review);
      return request === undefined ? undefined : conversionResponse(request, route.convert);
    }
    default:
      return unreachable(route);
  }
}
