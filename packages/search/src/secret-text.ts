import type { Secret } from "@quartermaster/runtime/kinds";

import { isCut } from "./bounded-data.ts";

/** The text that a Secret holds under a key; undefined when there is none. */
export function secretText(secret: Pick<Secret, "data"> | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value === undefined || isCut(value) ? undefined : Buffer.from(value, "base64").toString();
}

/** Text as Secrets hold it. */
export function encode(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
}
