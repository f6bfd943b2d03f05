import type { ApiError } from "@quartermaster/runtime";

import type { Identity } from "./identity.ts";

/**
 * What the server said about an object, without the verb and path that the client puts before it. About a Secret only which
 * fields it did not like and why: its texts quote what stands there.
 */
export function refusalText(
  { message, causes, reason, class: errorClass }: ApiError,
  { apiVersion, kind }: Pick<Identity, "apiVersion" | "kind">,
): string {
  if (kind !== "Secret" || apiVersion !== "v1") return message.replace(/^[^:]*: \d+ /, "");
  const faults = causes.map(({ field, reason: why }) => `${field}: ${why}`);
  return faults.length === 0 ? (reason ?? errorClass) : faults.join("; ");
}
