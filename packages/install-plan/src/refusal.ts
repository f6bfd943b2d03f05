import type { ApiError, ErrorClass } from "@quartermaster/runtime";

/**
 * What the server said about an object, without the verb and path that the client puts before it. Of what it said about a
 * Secret the transport has already left nothing but fields and reasons.
 */
export function refusalText({ message }: ApiError): string {
  return message.replace(/^[^:]*: \d+ /, "");
}

/** Whether asking again would bring the same answer until somebody changes something. */
export function isLasting(errorClass: ErrorClass): boolean {
  return errorClass === "forbidden" || errorClass === "invalid" || errorClass === "tooLarge";
}
