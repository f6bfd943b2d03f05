import { printable } from "@quartermaster/runtime";
import type { z } from "zod";

import { unreadable } from "./read-answer.ts";

/** Reads what the API promises; throws `unreadable` with the first field that is not so. */
export function parseShape<T>(shape: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = shape.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const path = printable(issue?.path.map(String).join(".") ?? "");
  throw unreadable(what, `field "${path.slice(0, 100)}" is not what the API promises`);
}
