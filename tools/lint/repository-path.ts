import { relative, sep } from "node:path";

import type { Context } from "@oxlint/plugins";

/** The linted file relative to the directory oxlint runs in, with forward slashes. */
export function repositoryPath(context: Context): string {
  return relative(context.cwd, context.filename).split(sep).join("/");
}
