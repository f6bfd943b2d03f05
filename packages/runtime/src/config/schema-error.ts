import type { ZodError } from "zod";

import { ConfigError } from "../errors.ts";

/** The first fault of a file, or of the part of it under `prefix`, with the path of its field. */
export function schemaError(file: string, { issues }: ZodError, prefix = ""): ConfigError {
  const [issue] = issues;
  const field = pathText(prefix, issue?.path ?? []);
  return new ConfigError(issue?.message ?? "invalid", {
    code: "configInvalid",
    file,
    ...(field === "" ? {} : { field }),
  });
}

function pathText(prefix: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, prefix);
}
